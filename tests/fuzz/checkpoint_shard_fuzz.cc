#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/checkpoint/checkpoint_shard_format.h"

/// Any bytes are refused, or a state that is written in a form that reads as itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pstrain;
  const auto state = ParseCheckpointShard({reinterpret_cast<const char*>(data), size});
  if (!state.ok()) return 0;
  const std::string written = SerializeCheckpointShard(*state);
  const auto again = ParseCheckpointShard(written);
  if (!again.ok() || SerializeCheckpointShard(*again) != written) std::abort();
  return 0;
}
