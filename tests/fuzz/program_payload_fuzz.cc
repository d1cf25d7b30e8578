// Calls and results of a program (library/payload.h), as they come from a coordinator or a
// worker of another build: what can be read is written so that it reads the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "library/payload.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pstrain::program;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto call = DecodeCall(bytes); call.ok()) {
    const std::string written = EncodeCall(*call);
    const auto again = DecodeCall(written);
    // By their bytes: what is not a number equals nothing.
    if (!again.ok() || EncodeCall(*again) != written) std::abort();
  }
  if (const auto result = DecodeResult(bytes); result.ok()) {
    const std::string written = EncodeResult(*result);
    const auto again = DecodeResult(written);
    if (!again.ok() || EncodeResult(*again) != written) std::abort();
  }
  return 0;
}
