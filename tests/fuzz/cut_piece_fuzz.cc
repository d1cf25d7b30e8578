#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/checkpoint/piece_format.h"

/// Any bytes are refused, or a state that is written in a form that reads as itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pstrain;
  const auto state = ParsePiece({reinterpret_cast<const char*>(data), size});
  if (!state.ok()) return 0;
  const std::string written = SerializePiece(*state);
  const auto again = ParsePiece(written);
  if (!again.ok() || SerializePiece(*again) != written) std::abort();
  return 0;
}
