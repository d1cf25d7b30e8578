#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text/json.h"

/// Any text is refused, or its value is written and read back equal.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value =
      pstrain::ParseJson(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!value.ok()) return 0;
  const auto again = pstrain::ParseJson(pstrain::WriteJson(*value));
  if (!again.ok() || !(*again == *value)) std::abort();
  return 0;
}
