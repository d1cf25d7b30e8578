#include "proto/contract/stats_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>

namespace pstrain {
namespace {

static_assert(std::endian::native == std::endian::little);

bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsKey(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return IsAlpha(c) || IsDigit(c) || c == '.' || c == '-';
  });
}

/// Prometheus data model: [a-zA-Z_:][a-zA-Z0-9_:]*.
bool IsMetricName(std::string_view text) {
  return !text.empty() && !IsDigit(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlpha(c) || IsDigit(c) || c == ':'; });
}

/// Printable ASCII that needs no escaping anywhere.
bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
}

/// The text of a field, or nothing when it does not end inside the field.
template <std::size_t n>
std::optional<std::string_view> FieldText(const char (&field)[n]) {
  const void* end = std::memchr(field, 0, n);
  if (end == nullptr) return std::nullopt;
  return std::string_view(field, static_cast<std::size_t>(static_cast<const char*>(end) - field));
}

template <std::size_t n>
bool SetField(char (&field)[n], std::string_view text) {
  if (text.size() >= n) return false;
  std::memcpy(field, text.data(), text.size());
  return true;
}

template <typename T>
T LoadRelaxed(const std::byte* at) {
  // atomic_ref wants a mutable object; loading does not write.
  auto* object = reinterpret_cast<T*>(const_cast<std::byte*>(at));
  return std::atomic_ref<T>(*object).load(std::memory_order_relaxed);
}

std::uint32_t LoadSlotCount(const std::byte* page) {
  auto* count = reinterpret_cast<std::uint32_t*>(
      const_cast<std::byte*>(page + offsetof(StatsPageHeader, slot_count)));
  return std::atomic_ref<std::uint32_t>(*count).load(std::memory_order_acquire);
}

/// The header's fixed part, checked against the real size; its slot_count is not looked at.
Result<StatsPageHeader> ReadHeader(std::span<const std::byte> page) {
  if (page.size() < sizeof(StatsPageHeader)) {
    return DataLossError("stats page: " + std::to_string(page.size()) + " bytes are too few");
  }
  StatsPageHeader header{};
  std::memcpy(&header, page.data(), offsetof(StatsPageHeader, slot_count));
  if (header.magic != kStatsPageMagic) return DataLossError("stats page: bad magic");
  if (header.version != kStatsPageVersion) {
    return DataLossError("stats page: version " + std::to_string(header.version) + ", this is " +
                         std::to_string(kStatsPageVersion));
  }
  if (header.entry_bytes != sizeof(StatsPageEntry) || header.max_slots > kStatsPageMaxSlots ||
      header.page_bytes != page.size() || StatsPageBytes(header.max_slots) > page.size()) {
    return DataLossError("stats page: sizes do not fit together");
  }
  return header;
}

std::size_t EntryOffset(std::uint32_t slot) {
  return sizeof(StatsPageHeader) + std::size_t{slot} * sizeof(StatsPageEntry);
}

std::size_t CellOffset(std::uint32_t max_slots, std::uint32_t slot) {
  return EntryOffset(max_slots) + std::size_t{slot} * kStatsPageCellBytes;
}

std::optional<StatReading> ReadEntry(std::span<const std::byte> page, std::uint32_t max_slots,
                                     std::uint32_t slot) {
  StatsPageEntry entry;  // A copy: the other side may change the page between check and use.
  std::memcpy(&entry, page.data() + EntryOffset(slot), sizeof(entry));
  const auto key = FieldText(entry.key);
  const auto name = FieldText(entry.name);
  const auto labels = FieldText(entry.labels);
  const auto help = FieldText(entry.help);
  if (!key || !name || !labels || !help) return std::nullopt;
  if (!IsKey(*key) || !IsMetricName(*name) || !ParseStatLabels(*labels) || !IsPlain(*help)) {
    return std::nullopt;
  }
  if (entry.type > static_cast<std::uint8_t>(StatType::kDouble) ||
      entry.kind > static_cast<std::uint8_t>(StatKind::kHistogramSum) ||
      entry.value_offset % 8 != 0 || entry.value_offset < CellOffset(max_slots, 0) ||
      entry.value_offset > CellOffset(max_slots, max_slots) - sizeof(std::uint64_t)) {
    return std::nullopt;
  }
  StatReading reading;
  reading.key = *key;
  reading.name = *name;
  reading.labels = *labels;
  reading.help = *help;
  reading.type = static_cast<StatType>(entry.type);
  reading.kind = static_cast<StatKind>(entry.kind);
  reading.value_offset = entry.value_offset;
  reading.bits = LoadRelaxed<std::uint64_t>(page.data() + entry.value_offset);
  return reading;
}

Result<std::byte*> MapBytes(std::size_t size, int fd) {
  const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (data == MAP_FAILED) return ErrnoError(errno, "map the stats page");
  return static_cast<std::byte*>(data);
}

}  // namespace

double StatReading::AsDouble() const {
  return type == StatType::kU64 ? static_cast<double>(bits) : std::bit_cast<double>(bits);
}

std::optional<std::vector<std::pair<std::string, std::string>>> ParseStatLabels(
    std::string_view labels) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!labels.empty()) {
    const std::size_t equals = labels.find("=\"");
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view name = labels.substr(0, equals);
    if (!IsMetricName(name) || name.find(':') != std::string_view::npos) return std::nullopt;
    labels.remove_prefix(equals + 2);
    const std::size_t quote = labels.find('"');
    if (quote == std::string_view::npos) return std::nullopt;
    const std::string_view value = labels.substr(0, quote);
    if (!IsPlain(value)) return std::nullopt;
    labels.remove_prefix(quote + 1);
    if (!labels.empty()) {
      if (labels.front() != ',' || labels.size() == 1) return std::nullopt;
      labels.remove_prefix(1);
    }
    pairs.emplace_back(name, value);
  }
  return pairs;
}

Result<std::vector<StatReading>> ReadStatsPage(std::span<const std::byte> page) {
  PSTRAIN_ASSIGN_OR_RETURN(const StatsPageHeader header, ReadHeader(page));
  const std::uint32_t count = std::min(LoadSlotCount(page.data()), header.max_slots);
  std::vector<StatReading> readings;
  readings.reserve(count);
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    auto reading = ReadEntry(page, header.max_slots, slot);
    if (reading) readings.push_back(*std::move(reading));
  }
  return readings;
}

Result<std::unique_ptr<StatsPage>> StatsPage::Format(std::byte* data, std::size_t size, UniqueFd fd,
                                                     std::uint32_t max_slots) {
  StatsPageHeader header{};
  header.magic = kStatsPageMagic;
  header.version = kStatsPageVersion;
  header.entry_bytes = sizeof(StatsPageEntry);
  header.page_bytes = size;
  header.max_slots = max_slots;
  std::memcpy(data, &header, sizeof(header));
  return std::unique_ptr<StatsPage>(new StatsPage(data, size, std::move(fd)));
}

Result<std::unique_ptr<StatsPage>> StatsPage::Create(std::uint32_t max_slots) {
  if (max_slots > kStatsPageMaxSlots) return InvalidArgumentError("stats page: too many slots");
  const std::size_t size = StatsPageBytes(max_slots);
  UniqueFd fd(memfd_create("pstrain-stats", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return ErrnoError(errno, "make the stats page");
  if (ftruncate(fd.get(), static_cast<off_t>(size)) != 0 ||
      fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return ErrnoError(errno, "size and seal the stats page");
  }
  PSTRAIN_ASSIGN_OR_RETURN(std::byte* const data, MapBytes(size, fd.get()));
  return Format(data, size, std::move(fd), max_slots);
}

Result<std::unique_ptr<StatsPage>> StatsPage::Map(int fd) {
  const UniqueFd handed_over(fd);
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0)
    return ErrnoError(errno, "stats page: read the seals of descriptor " + std::to_string(fd));
  if ((seals & F_SEAL_SHRINK) == 0) {
    return FailedPreconditionError("stats page: descriptor " + std::to_string(fd) +
                                   " is not sealed against shrinking");
  }
  struct stat info{};
  if (fstat(fd, &info) != 0) return ErrnoError(errno, "stats page: stat");
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size < sizeof(StatsPageHeader)) return DataLossError("stats page: too small");
  PSTRAIN_ASSIGN_OR_RETURN(std::byte* const data, MapBytes(size, fd));
  std::unique_ptr<StatsPage> page(new StatsPage(data, size, UniqueFd()));
  PSTRAIN_RETURN_IF_ERROR(ReadHeader(page->bytes()).status());
  return page;
}

Result<std::unique_ptr<StatsPage>> StatsPage::Private(std::uint32_t max_slots) {
  if (max_slots > kStatsPageMaxSlots) return InvalidArgumentError("stats page: too many slots");
  const std::size_t size = StatsPageBytes(max_slots);
  PSTRAIN_ASSIGN_OR_RETURN(std::byte* const data, MapBytes(size, -1));
  return Format(data, size, UniqueFd(), max_slots);
}

StatsPage::~StatsPage() { munmap(data_, size_); }

Result<std::uint64_t*> StatsPage::Append(const StatDefinition& definition, StatType type,
                                         StatKind kind, std::uint64_t bits) {
  const std::string what = "stat '" + std::string(definition.key) + "'";
  if (!IsKey(definition.key) || !IsMetricName(definition.name) ||
      !ParseStatLabels(definition.labels) || !IsPlain(definition.help)) {
    return InvalidArgumentError(what + ": unusable key, name, labels or help");
  }
  StatsPageEntry entry{};
  if (!SetField(entry.key, definition.key) || !SetField(entry.name, definition.name) ||
      !SetField(entry.labels, definition.labels) || !SetField(entry.help, definition.help)) {
    return InvalidArgumentError(what + ": a text is too long");
  }
  const MutexLock lock(append_mutex_);
  PSTRAIN_ASSIGN_OR_RETURN(const StatsPageHeader header, ReadHeader(bytes()));
  const std::uint32_t slot = LoadSlotCount(data_);
  if (slot >= header.max_slots) return ResourceExhaustedError(what + ": the stats page is full");
  entry.type = static_cast<std::uint8_t>(type);
  entry.kind = static_cast<std::uint8_t>(kind);
  entry.value_offset = static_cast<std::uint32_t>(CellOffset(header.max_slots, slot));
  std::memcpy(data_ + EntryOffset(slot), &entry, sizeof(entry));
  std::atomic_ref<std::uint64_t>(*Cell(entry.value_offset)).store(bits, std::memory_order_relaxed);
  auto* count = reinterpret_cast<std::uint32_t*>(data_ + offsetof(StatsPageHeader, slot_count));
  std::atomic_ref<std::uint32_t>(*count).store(slot + 1, std::memory_order_release);
  return Cell(entry.value_offset);
}

std::uint64_t* StatsPage::Cell(std::uint32_t value_offset) {
  return reinterpret_cast<std::uint64_t*>(data_ + value_offset);
}

}  // namespace pstrain
