// Any bytes as a stats page: the reader may refuse them but must stay inside.
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "proto/contract/stats_page.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A mapping is aligned; the fuzzer's bytes need not be.
  std::vector<std::uint64_t> words((size + 7) / 8);
  if (size > 0) std::memcpy(words.data(), data, size);
  const auto page = std::as_bytes(std::span(words)).first(size);
  (void)pstrain::ReadStatsPage(page);

  // The same bytes behind a header that fits, so that the directory is reached without luck.
  constexpr std::uint32_t kSlots = 4;
  std::vector<std::uint64_t> framed(pstrain::StatsPageBytes(kSlots) / 8);
  pstrain::StatsPageHeader header{};
  header.magic = pstrain::kStatsPageMagic;
  header.version = pstrain::kStatsPageVersion;
  header.entry_bytes = sizeof(pstrain::StatsPageEntry);
  header.page_bytes = framed.size() * 8;
  header.max_slots = kSlots;
  header.slot_count = kSlots;
  auto* bytes = reinterpret_cast<std::uint8_t*>(framed.data());
  std::memcpy(bytes, &header, sizeof(header));
  const std::size_t room = framed.size() * 8 - sizeof(header);
  if (size > 0) std::memcpy(bytes + sizeof(header), data, size < room ? size : room);
  const auto readings = pstrain::ReadStatsPage(std::as_bytes(std::span(framed)));
  if (!readings.ok() || readings->size() > kSlots) __builtin_trap();
  return 0;
}
