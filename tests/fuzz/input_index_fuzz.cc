#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/input/input_index.h"
#include "tests/fuzz/checked_frame.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  pstrain::SilenceProtobuf();
  return 0;
}

/// Any bytes are refused, or an index that can be walked and written back.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pstrain;
  constexpr std::size_t kHeaderBytes = 12;
  const std::string_view raw(reinterpret_cast<const char*>(data), size);
  static_cast<void>(InputIndex::Parse(raw));
  const auto index = InputIndex::Parse(WithRightChecksum(data, size, kHeaderBytes));
  if (!index.ok()) return 0;
  const auto again = InputIndex::Parse(index->Serialize());
  if (!again.ok() || !(again->files() == index->files())) std::abort();
  const std::uint32_t batches = index->batches_per_epoch();
  if (index->Place({0, batches}).ok()) std::abort();
  for (const std::uint32_t batch : {std::uint32_t{0}, batches / 2, batches - 1}) {
    const auto place = index->Place({0, batch});
    if (!place.ok() || place->records == 0) std::abort();
    const InputBlock& block = index->blocks()[place->block];
    if (place->first + place->records > block.records) std::abort();
    if (block.first_record / kRecordsPerPosition >= index->files()[block.file].positions.size()) {
      std::abort();
    }
  }
  return 0;
}
