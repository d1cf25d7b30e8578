#include "runtime/checkpoint/checkpoint_shard_format.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace pstrain {
namespace {

static_assert(std::endian::native == std::endian::little,
              "checkpoint shards are written as they lie");

constexpr std::string_view kMagic = "PSTPIECE";
constexpr std::uint32_t kVersion = 6;
/// Of the batch in a number that stands for a work id.
constexpr int kBatchBits = 32;
/// More than any optimizer has.
constexpr std::uint32_t kMaxSlots = 16;

std::size_t Padding(std::size_t size) { return (8 - size % 8) % 8; }

class CheckpointShardWriter {
 public:
  void U32(std::uint32_t value) { Raw(&value, sizeof(value)); }
  void U64(std::uint64_t value) { Raw(&value, sizeof(value)); }
  void Bytes(std::string_view bytes) {
    out_.append(bytes);
    out_.append(Padding(bytes.size()), '\0');
  }
  void Array(const ValueArray& values) {
    const std::span<const std::byte> bytes = values.bytes();
    Raw(bytes.data(), bytes.size());
    out_.append(Padding(bytes.size()), '\0');
  }
  /// The rows of which `values` is made, in the given order.
  void Rows(const ValueArray& values, const std::vector<std::size_t>& order) {
    const std::span<const std::byte> bytes = values.bytes();
    const std::size_t row_bytes = order.empty() ? 0 : bytes.size() / order.size();
    for (const std::size_t row : order) Raw(bytes.data() + row * row_bytes, row_bytes);
    out_.append(Padding(bytes.size()), '\0');
  }
  void Reserve(std::size_t bytes) { out_.reserve(bytes); }
  const std::string& bytes() const { return out_; }

 private:
  void Raw(const void* data, std::size_t size) {
    if (size > 0) out_.append(static_cast<const char*>(data), size);
  }
  std::string out_;
};

/// Reads what CheckpointShardWriter wrote; the first failure sticks.
class CheckpointShardReader {
 public:
  explicit CheckpointShardReader(std::string_view bytes) : rest_(bytes) {}

  std::uint32_t U32() { return Number<std::uint32_t>(); }
  std::uint64_t U64() { return Number<std::uint64_t>(); }
  std::string_view Bytes(std::uint64_t size) {
    if (size > rest_.size() || Padding(static_cast<std::size_t>(size)) > rest_.size() - size) {
      return Fail();
    }
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(taken.size() + Padding(taken.size()));
    return taken;
  }
  template <typename T>
  std::vector<T> Array(std::uint64_t count) {
    if (count > rest_.size() / sizeof(T)) {
      Fail();
      return {};
    }
    const std::string_view bytes = Bytes(count * sizeof(T));
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  ValueArray Values(DType dtype, std::uint64_t count) {
    return WithElement(
        dtype, [&]<typename T>(std::type_identity<T>) -> ValueArray { return Array<T>(count); });
  }
  DType ReadDType() {
    const std::uint32_t dtype = U32();
    if (dtype > static_cast<std::uint32_t>(kLastDType)) Fail();
    return failed_ ? DType::kFloat32 : static_cast<DType>(dtype);
  }
  /// The number of optimizer slots; no optimizer has more than a few.
  std::uint32_t Slots() {
    const std::uint32_t slots = U32();
    if (slots > kMaxSlots) Fail();
    return failed_ ? 0 : slots;
  }
  /// count x size, unless that is more than is left.
  std::uint64_t Product(std::uint64_t count, std::uint64_t size) {
    if (size == 0 || count > rest_.size() / size) {
      Fail();
      return 0;
    }
    return count * size;
  }
  /// What was read contradicts itself.
  void Refuse() { Fail(); }
  bool failed() const { return failed_; }
  bool Done() const { return !failed_ && rest_.empty(); }

 private:
  template <typename T>
  T Number() {
    T value = 0;
    if (rest_.size() < sizeof(T)) {
      Fail();
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return value;
  }
  std::string_view Fail() {
    failed_ = true;
    rest_ = {};
    return {};
  }
  std::string_view rest_;
  bool failed_ = false;
};

void WriteTable(CheckpointShardWriter& out, const TableState& table) {
  std::vector<std::size_t> order(table.keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return table.keys[a] < table.keys[b]; });
  const std::size_t dimension = order.empty() ? 1 : table.values.size() / order.size();
  out.U32(table.variable);
  out.U32(static_cast<std::uint32_t>(dimension));
  out.U32(static_cast<std::uint32_t>(table.slots.size()));
  out.U32(static_cast<std::uint32_t>(table.values.dtype()));
  out.U64(table.keys.size());
  for (const std::size_t row : order) out.U64(table.keys[row]);
  out.Rows(table.values, order);
  for (const ValueArray& slot : table.slots) {
    out.U64(slot.size());
    out.Rows(slot, order);
  }
}

}  // namespace

std::string SerializeCheckpointShard(const ShardState& state) {
  const std::string applied = state.applied.Serialize();
  std::size_t bytes = 0;
  const auto add = [&bytes](const ValueArray& values, const std::vector<ValueArray>& slots) {
    bytes += values.bytes().size();
    for (const ValueArray& slot : slots) bytes += slot.bytes().size();
  };
  for (const DenseState& dense : state.dense) add(dense.values, dense.slots);
  for (const TableState& table : state.tables) {
    bytes += table.keys.size() * sizeof(std::uint64_t);
    add(table.values, table.slots);
  }
  CheckpointShardWriter out;
  out.Reserve(bytes + applied.size() + 4096);
  out.Bytes(kMagic);
  out.U32(kVersion);
  out.U32(state.shard);
  out.U64(state.term.chief_term);
  out.U64(state.term.counter);
  out.U64(static_cast<std::uint64_t>(state.examples));
  out.U64(static_cast<std::uint64_t>(state.skipped));
  out.U64(static_cast<std::uint64_t>(state.non_finite));
  out.U32(state.incremental ? 1 : 0);
  out.U32(static_cast<std::uint32_t>(state.left_out.size()));
  out.U32(static_cast<std::uint32_t>(state.dense.size()));
  out.U32(static_cast<std::uint32_t>(state.tables.size()));
  out.U32(state.variables);
  out.U32(0);
  out.U64(applied.size());
  out.Bytes(applied);
  for (const WorkId work_id : state.left_out) {
    out.U64((std::uint64_t{work_id.epoch} << kBatchBits) | work_id.batch);
  }
  for (const DenseState& dense : state.dense) {
    out.U32(dense.variable);
    out.U32(dense.partition);
    out.U32(static_cast<std::uint32_t>(dense.slots.size()));
    out.U32(static_cast<std::uint32_t>(dense.values.dtype()));
    out.U64(dense.values.size());
    out.Array(dense.values);
    for (const ValueArray& slot : dense.slots) {
      out.U64(slot.size());
      out.Array(slot);
    }
  }
  for (const TableState& table : state.tables) WriteTable(out, table);
  return out.bytes();
}

namespace {

bool Ascend(const std::vector<std::uint64_t>& numbers) {
  const auto not_above = [](std::uint64_t number, std::uint64_t next) { return next <= number; };
  return std::adjacent_find(numbers.begin(), numbers.end(), not_above) == numbers.end();
}

std::vector<WorkId> ReadWorkIds(CheckpointShardReader& in, std::uint32_t count) {
  const std::vector<std::uint64_t> numbers = in.Array<std::uint64_t>(count);
  if (!Ascend(numbers)) in.Refuse();
  std::vector<WorkId> work_ids;
  work_ids.reserve(numbers.size());
  for (const std::uint64_t number : numbers) {
    work_ids.push_back(
        {static_cast<std::uint32_t>(number >> kBatchBits), static_cast<std::uint32_t>(number)});
  }
  return work_ids;
}

DenseState ReadDense(CheckpointShardReader& in) {
  DenseState dense;
  dense.variable = in.U32();
  dense.partition = in.U32();
  const std::uint32_t slots = in.Slots();
  const DType dtype = in.ReadDType();
  const std::uint64_t elements = in.U64();
  dense.values = in.Values(dtype, elements);
  for (std::uint32_t i = 0; i < slots && !in.failed(); ++i) {
    const std::uint64_t of_slot = in.U64();
    dense.slots.push_back(in.Values(dtype, of_slot));
  }
  return dense;
}

TableState ReadTable(CheckpointShardReader& in) {
  TableState table;
  table.variable = in.U32();
  const std::uint32_t dimension = in.U32();
  const std::uint32_t slots = in.Slots();
  const DType dtype = in.ReadDType();
  const std::uint64_t rows = in.U64();
  table.keys = in.Array<std::uint64_t>(rows);
  if (!Ascend(table.keys)) in.Refuse();
  if (in.failed()) return table;
  const std::uint64_t elements = rows == 0 ? 0 : in.Product(rows, dimension);
  table.values = in.Values(dtype, elements);
  for (std::uint32_t i = 0; i < slots && !in.failed(); ++i) {
    const std::uint64_t of_slot = in.U64();
    if (rows == 0 ? of_slot != 0 : of_slot % rows != 0) in.Refuse();
    table.slots.push_back(in.Values(dtype, of_slot));
  }
  return table;
}

}  // namespace

Result<ShardState> ParseCheckpointShard(std::string_view bytes) {
  CheckpointShardReader in(bytes);
  if (in.Bytes(kMagic.size()) != kMagic) return DataLossError("not a checkpoint shard");
  const std::uint32_t version = in.U32();
  if (in.failed()) return DataLossError("it ends in its header");
  if (version != kVersion) {
    return DataLossError("format version " + std::to_string(version) + ", this program reads " +
                         std::to_string(kVersion));
  }
  ShardState state;
  state.shard = in.U32();
  state.term.chief_term = in.U64();
  state.term.counter = in.U64();
  state.examples = static_cast<std::int64_t>(in.U64());
  state.skipped = static_cast<std::int64_t>(in.U64());
  state.non_finite = static_cast<std::int64_t>(in.U64());
  state.incremental = in.U32() != 0;
  const std::uint32_t left_out = in.U32();
  const std::uint32_t dense = in.U32();
  const std::uint32_t tables = in.U32();
  state.variables = in.U32();
  if (in.U32() != 0) in.Refuse();
  const std::uint64_t applied_bytes = in.U64();
  PSTRAIN_ASSIGN_OR_RETURN(state.applied, AppliedSet::Parse(in.Bytes(applied_bytes)));
  state.left_out = ReadWorkIds(in, left_out);
  for (std::uint32_t i = 0; i < dense && !in.failed(); ++i) state.dense.push_back(ReadDense(in));
  for (std::uint32_t i = 0; i < tables && !in.failed(); ++i) state.tables.push_back(ReadTable(in));
  if (!in.Done()) return DataLossError("its parts do not fill it");
  return state;
}

}  // namespace pstrain
