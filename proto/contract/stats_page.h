#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/os/unique_fd.h"
#include "base/status.h"

namespace pstrain {

/// The shared stats page: named numbers that a training process writes with relaxed stores and its
/// agent reads when somebody asks, also after the process has died. One page belongs to one attempt
/// of one replica. The agent makes it (a memfd sealed against growing and shrinking) and hands the
/// descriptor down.
///
/// Layout, little endian, all offsets in bytes from the start of the page:
///
///   0                        StatsPageHeader (64)
///   64                       max_slots x StatsPageEntry (384 each), the directory
///   64 + max_slots * 384     max_slots x cell (64 each; the first 8 hold the value)
///
/// The directory only grows: an entry is filled, then slot_count is raised with release order. A
/// value is a 64-bit cell of its own cache line, read and written with relaxed order.
inline constexpr std::uint64_t kStatsPageMagic = 0x3150545354525350;  // "PSRTSTP1" in memory
inline constexpr std::uint32_t kStatsPageVersion = 1;
inline constexpr std::uint32_t kStatsPageDefaultSlots = 4096;
inline constexpr std::uint32_t kStatsPageMaxSlots = 65536;
inline constexpr std::size_t kStatsPageCellBytes = 64;

enum class StatType : std::uint8_t { kU64 = 0, kDouble = 1 };
/// The slots of one histogram share name and labels; a bucket has a label le besides, its inclusive
/// upper bound, and counts what lies above the bucket before it.
enum class StatKind : std::uint8_t {
  kCounter = 0,
  kGauge = 1,
  kHistogramBucket = 2,
  kHistogramSum = 3,
};
inline constexpr std::string_view kStatBucketLabel = "le";

struct StatsPageHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t entry_bytes;
  std::uint64_t page_bytes;
  std::uint32_t max_slots;
  std::uint32_t slot_count;  // atomic: release by the writer, acquire by the reader
  std::uint8_t reserved[32];
};
static_assert(sizeof(StatsPageHeader) == 64);

/// Texts end with a zero byte inside their field.
struct StatsPageEntry {
  char key[64];      // short name in /progress, e.g. phase_seconds.pull
  char name[80];     // Prometheus name, e.g. pstrain_worker_phase_seconds_total
  char labels[104];  // Prometheus labels without braces, e.g. phase="pull"; may be empty
  char help[128];
  std::uint8_t type;           // StatType
  std::uint8_t kind;           // StatKind
  std::uint8_t reserved[2];    // zero
  std::uint32_t value_offset;  // multiple of 8, inside the cells
};
static_assert(sizeof(StatsPageEntry) == 384);

/// What a slot is. `labels` as in StatsPageEntry.
struct StatDefinition {
  std::string_view key;
  std::string_view name;
  std::string_view labels;
  std::string_view help;
};

/// One slot as it was read. `bits` is the integer itself for kU64, the IEEE 754 pattern for
/// kDouble.
struct StatReading {
  std::string key;
  std::string name;
  std::string labels;
  std::string help;
  StatType type = StatType::kU64;
  StatKind kind = StatKind::kCounter;
  std::uint32_t value_offset = 0;
  std::uint64_t bits = 0;

  double AsDouble() const;
};

/// Names and values of `name="value",...`; nullopt when it is not such a list. A value is printable
/// ASCII without quotes and backslashes, so that it needs no escaping anywhere.
std::optional<std::vector<std::pair<std::string, std::string>>> ParseStatLabels(
    std::string_view labels);

/// Bytes of a page with that many slots.
constexpr std::size_t StatsPageBytes(std::uint32_t max_slots) {
  return sizeof(StatsPageHeader) +
         std::size_t{max_slots} * (sizeof(StatsPageEntry) + kStatsPageCellBytes);
}

/// Reads every slot of a page that anybody may have written, also while it is being written. Texts
/// that are not usable as Prometheus names, labels or keys, a bad type or an offset outside the
/// cells make that slot skipped; a bad magic, version or size is DATA_LOSS. Never reads outside
/// `page`. REQUIRES: page.data() is a multiple of 8.
Result<std::vector<StatReading>> ReadStatsPage(std::span<const std::byte> page);

/// A mapped page. Owner: the agent (Create) or the runtime's StatsWriter (Map, Private).
class StatsPage {
 public:
  /// A new sealed memfd with an empty directory, mapped. The descriptor is close-on-exec.
  static Result<std::unique_ptr<StatsPage>> Create(
      std::uint32_t max_slots = kStatsPageDefaultSlots);
  /// Maps the page behind `fd` for writing and takes `fd` over (it is closed in every case).
  /// FAILED_PRECONDITION when the descriptor is not sealed, DATA_LOSS when it is not such a page.
  static Result<std::unique_ptr<StatsPage>> Map(int fd);
  /// A page of this process alone.
  static Result<std::unique_ptr<StatsPage>> Private(
      std::uint32_t max_slots = kStatsPageDefaultSlots);

  StatsPage(const StatsPage&) = delete;
  StatsPage& operator=(const StatsPage&) = delete;
  ~StatsPage();

  /// The descriptor to hand down, or -1.
  int fd() const { return fd_.get(); }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

  /// All slots with their present values. Any thread.
  Result<std::vector<StatReading>> Read() const { return ReadStatsPage(bytes()); }

  /// Adds a slot and returns its cell, which lives as long as this object. Nobody reads the slot
  /// before it has the value `bits`.
  /// INVALID_ARGUMENT for a text that is too long or unusable, RESOURCE_EXHAUSTED when full.
  /// Any thread of the one process that writes the page.
  Result<std::uint64_t*> Append(const StatDefinition& definition, StatType type, StatKind kind,
                                std::uint64_t bits = 0);

  /// The cell at an offset that Read() returned.
  std::uint64_t* Cell(std::uint32_t value_offset);

 private:
  static Result<std::unique_ptr<StatsPage>> Format(std::byte* data, std::size_t size, UniqueFd fd,
                                                   std::uint32_t max_slots);
  StatsPage(std::byte* data, std::size_t size, UniqueFd fd)
      : data_(data), size_(size), fd_(std::move(fd)) {}

  std::byte* data_;
  std::size_t size_;
  UniqueFd fd_;
  Mutex append_mutex_;  // one appender at a time; the readers of the page take no lock
};

}  // namespace pstrain
