#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/checkpoint/manifest.h"
#include "runtime/shard/catalog.h"
#include "tests/fuzz/checked_frame.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  pstrain::SilenceProtobuf();
  return 0;
}

/// Any bytes are refused, or a manifest with one checkpoint shard per shard, whose variables are
/// refused or make a catalog.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pstrain;
  constexpr std::size_t kHeaderBytes = 16;
  static_cast<void>(ParseManifest({reinterpret_cast<const char*>(data), size}));
  const auto manifest = ParseManifest(WithRightChecksum(data, size, kHeaderBytes));
  if (!manifest.ok()) return 0;
  if (static_cast<std::uint32_t>(manifest->checkpoint_shards_size()) != manifest->shards())
    std::abort();
  const auto catalog = Catalog::Create({manifest->variables().begin(), manifest->variables().end()},
                                       manifest->shards(),
                                       static_cast<std::uint32_t>(manifest->batches_per_epoch()));
  if (!catalog.ok()) return 0;
  for (const CatalogVariable& variable : (*catalog)->variables()) {
    if (variable.rows == 0 || variable.dimension == 0) std::abort();
  }
  return 0;
}
