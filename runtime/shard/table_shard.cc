#include "runtime/shard/table_shard.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <numeric>
#include <type_traits>
#include <utility>

#include "runtime/shard/values/update_ops.h"

namespace pstrain {
namespace {

/// Small, because there is a table per variable and shard; a row that is longer has its own slab.
constexpr std::size_t kSlabBytes = 4096;
/// Of x86-64, as of most of the others.
constexpr std::size_t kLineBytes = 64;
/// Of longer rows the processor asks for the next lines by itself.
constexpr std::size_t kMostLines = 8;

/// Asks memory for so many bytes.
inline void AskFor(const std::byte* bytes, std::size_t count) {
  const std::size_t end = std::min(count, kMostLines * kLineBytes);
  for (std::size_t i = 0; i < end; i += kLineBytes) __builtin_prefetch(bytes + i);
}

/// Of a slot beside one row.
std::size_t SlotBytes(const CatalogVariable& variable, const OptimizerSlot& slot) {
  return slot.OfRow(variable.dimension) * SizeOf(variable.dtype);
}

/// The arrays that a row is made of.
std::vector<std::size_t> BytesOfArrays(const CatalogVariable& variable, std::size_t row_bytes) {
  std::vector<std::size_t> bytes{row_bytes};
  for (const OptimizerSlot& slot : variable.slots()) bytes.push_back(SlotBytes(variable, slot));
  return bytes;
}

/// One value of an optimizer's slot, in every element of it.
void FillSlot(DType dtype, double value, std::byte* slot, std::size_t bytes) {
  WithElement(dtype, [&]<typename T>(std::type_identity<T>) {
    std::fill_n(reinterpret_cast<T*>(slot), bytes / sizeof(T), static_cast<T>(value));
  });
}

}  // namespace

TableShard::TableShard(const CatalogVariable& variable)
    : row_bytes_(variable.dimension * SizeOf(variable.dtype)),
      stride_(std::accumulate(variable.slots().begin(), variable.slots().end(), row_bytes_,
                              [&](std::size_t bytes, const OptimizerSlot& slot) {
                                return bytes + SlotBytes(variable, slot);
                              })),
      dimension_(variable.dimension),
      optimizer_(variable.optimizer.get()),
      variable_(variable) {
  while ((stride_ << (rows_per_slab_log2_ + 1)) <= kSlabBytes) ++rows_per_slab_log2_;
}

TableShard::Slab TableShard::MakeSlab(std::size_t bytes) {
  return Slab(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{kLineBytes})));
}

void TableShard::FreeSlab::operator()(std::byte* slab) const {
  ::operator delete[](slab, std::align_val_t{kLineBytes});
}

std::size_t TableShard::bytes() const {
  return slabs_.size() * (stride_ << rows_per_slab_log2_) +
         keys_.capacity() * sizeof(std::uint64_t) + marks_.capacity() * sizeof(std::uint32_t) +
         index_.bytes();
}

std::size_t TableShard::Resolve(std::span<const std::uint64_t> keys,
                                std::span<std::uint32_t> numbers, bool initialise) {
  const std::size_t before = index_.size();
  index_.Resolve(keys, numbers);
  if (index_.size() == before) return 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    // New numbers come in the order of their keys.
    if (numbers[i] != keys_.size()) continue;
    keys_.push_back(keys[i]);
    marks_.push_back(0);
    if (numbers[i] >> rows_per_slab_log2_ == slabs_.size()) {
      slabs_.push_back(MakeSlab(stride_ << rows_per_slab_log2_));
    }
    if (!initialise) continue;
    std::byte* row = Row(numbers[i]);
    variable_.initial.Fill(keys[i] * variable_.dimension, variable_.dtype, {row, row_bytes_});
    row += row_bytes_;
    for (const OptimizerSlot& slot : variable_.slots()) {
      const std::size_t bytes = SlotBytes(variable_, slot);
      FillSlot(variable_.dtype, slot.initial_value, row, bytes);
      row += bytes;
    }
  }
  return keys_.size() - before;
}

std::size_t TableShard::Locate(std::span<const std::uint64_t> keys, std::span<std::byte*> rows,
                               std::uint32_t mark, std::span<std::uint32_t> numbers) {
  numbers = numbers.first(keys.size());
  const std::size_t made = Resolve(keys, numbers, /*initialise=*/true);
  const std::size_t needed = mark == kUnmarked ? row_bytes_ : stride_;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (mark != kUnmarked) marks_[numbers[i]] = mark;
    rows[i] = Row(numbers[i]);
    AskFor(rows[i], needed);
  }
  return made;
}

void TableShard::Read(std::span<std::byte* const> rows, std::byte* out) const {
  for (const std::byte* row : rows) {
    std::memcpy(out, row, row_bytes_);
    out += row_bytes_;
  }
}

bool TableShard::Apply(std::span<std::byte* const> rows, UpdateOp op,
                       const ValueView& values) const {
  if (op == UpdateOp::kGradient) {
    return optimizer_->ApplyRows(rows, dimension_, values);
  }
  bool finite = true;
  const std::byte* operands = values.bytes().data();
  for (std::byte* const row : rows) {
    finite &= ApplyUpdate(op, variable_.dtype, row, operands, dimension_);
    operands += row_bytes_;
  }
  return finite;
}

TableState TableShard::Copy() const {
  std::vector<std::uint32_t> all(keys_.size());
  std::iota(all.begin(), all.end(), 0u);
  return CopyRows(all);
}

// Looks at every mark, but copies only the rows that it finds: marks lie together, rows do not.
TableState TableShard::CopyWrittenAfter(std::uint32_t mark) const {
  std::vector<std::uint32_t> written;
  for (std::uint32_t i = 0; i < marks_.size(); ++i) {
    if (marks_[i] > mark) written.push_back(i);
  }
  return CopyRows(written);
}

TableState TableShard::CopyRows(std::span<const std::uint32_t> numbers) const {
  TableState state;
  state.variable = variable();
  state.keys.resize(numbers.size());
  // The values, then each slot.
  const std::vector<std::size_t> bytes = BytesOfArrays(variable_, row_bytes_);
  std::vector<ValueArray> arrays;
  arrays.reserve(bytes.size());
  std::vector<std::byte*> to;
  for (const std::size_t of_row : bytes) {
    const std::size_t elements = of_row / SizeOf(variable_.dtype);
    arrays.emplace_back(variable_.dtype, numbers.size() * elements);
    to.push_back(arrays.back().bytes().data());
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::byte* row = Row(numbers[i]);
    state.keys[i] = keys_[numbers[i]];
    for (std::size_t array = 0; array < to.size(); ++array) {
      std::memcpy(to[array] + i * bytes[array], row, bytes[array]);
      row += bytes[array];
    }
  }
  state.values = std::move(arrays.front());
  state.slots.assign(std::make_move_iterator(arrays.begin() + 1),
                     std::make_move_iterator(arrays.end()));
  return state;
}

// Marks stay 0: after a restore the next copy is whole anyway (Shard::CopyForCheckpoint finds no
// base), so a row that was loaded has not been "written".
void TableShard::Load(const TableState& state) {
  std::vector<std::uint32_t> numbers(state.keys.size());
  Resolve(state.keys, numbers, /*initialise=*/false);
  const std::vector<std::size_t> bytes = BytesOfArrays(variable_, row_bytes_);
  std::vector<const std::byte*> from{state.values.bytes().data()};
  for (const ValueArray& slot : state.slots) from.push_back(slot.bytes().data());
  for (std::size_t i = 0; i < state.keys.size(); ++i) {
    std::byte* row = Row(numbers[i]);
    for (std::size_t array = 0; array < from.size(); ++array) {
      std::memcpy(row, from[array] + i * bytes[array], bytes[array]);
      row += bytes[array];
    }
  }
}

}  // namespace pstrain
