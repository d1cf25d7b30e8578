#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proto/contract/tf_config.h"

/// Any text is refused or read; what was read can be written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto config =
      pstrain::ParseTfConfig(std::string_view(reinterpret_cast<const char*>(data), size));
  if (config.ok()) (void)pstrain::WriteTfConfig(*config);
  return 0;
}
