#include "runtime/shard/table_shard.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>

namespace pstrain {
namespace {

/// Small, because there is a table per variable and shard; a row that is longer has its own slab.
constexpr std::size_t kSlabBytes = 4096;
/// Of x86-64, as of most of the others.
constexpr std::size_t kLineBytes = 64;
/// Of longer rows the processor asks for the next lines by itself.
constexpr std::size_t kMostLines = 8;

/// Asks memory for so many floats.
inline void AskFor(const float* floats, std::size_t count) {
  constexpr std::size_t kStep = kLineBytes / sizeof(float);
  const std::size_t end = std::min(count, kMostLines * kStep);
  for (std::size_t i = 0; i < end; i += kStep) __builtin_prefetch(floats + i);
}

}  // namespace

TableShard::TableShard(const CatalogVariable& variable)
    : variable_(variable),
      dimension_(variable.dimension),
      stride_(variable.dimension * (1 + variable.optimizer->slots().size())),
      index_(CreateHashRowIndex()) {
  while ((stride_ * sizeof(float) << (rows_per_slab_log2_ + 1)) <= kSlabBytes) {
    ++rows_per_slab_log2_;
  }
}

TableShard::Slab TableShard::MakeSlab(std::size_t floats) {
  return Slab(
      static_cast<float*>(::operator new[](floats * sizeof(float), std::align_val_t{kLineBytes})));
}

void TableShard::FreeSlab::operator()(float* slab) const {
  ::operator delete[](slab, std::align_val_t{kLineBytes});
}

std::size_t TableShard::bytes() const {
  return slabs_.size() * (stride_ * sizeof(float) << rows_per_slab_log2_) +
         keys_.capacity() * sizeof(std::uint64_t) + marks_.capacity() * sizeof(std::uint32_t) +
         index_->bytes();
}

std::size_t TableShard::Resolve(std::span<const std::uint64_t> keys, bool initialise) {
  const std::size_t before = keys_.size();
  index_->Resolve(keys, &numbers_);
  if (index_->size() == before) return 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    // New numbers come in the order of their keys.
    if (numbers_[i] != keys_.size()) continue;
    keys_.push_back(keys[i]);
    marks_.push_back(0);
    if (numbers_[i] >> rows_per_slab_log2_ == slabs_.size()) {
      slabs_.push_back(MakeSlab(stride_ << rows_per_slab_log2_));
    }
    if (!initialise) continue;
    float* row = Row(numbers_[i]);
    variable_.initial.Fill(keys[i] * dimension_, {row, dimension_});
    for (const OptimizerSlot& slot : variable_.optimizer->slots()) {
      row += dimension_;
      std::fill_n(row, dimension_, slot.initial_value);
    }
  }
  return keys_.size() - before;
}

std::size_t TableShard::Locate(std::span<const std::uint64_t> keys, std::span<float*> rows,
                               std::uint32_t mark) {
  const std::size_t made = Resolve(keys, /*initialise=*/true);
  const std::size_t needed = mark == kUnmarked ? dimension_ : stride_;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (mark != kUnmarked) marks_[numbers_[i]] = mark;
    rows[i] = Row(numbers_[i]);
    AskFor(rows[i], needed);
  }
  return made;
}

void TableShard::Read(std::span<float* const> rows, float* out) const {
  for (const float* row : rows) {
    std::memcpy(out, row, dimension_ * sizeof(float));
    out += dimension_;
  }
}

bool TableShard::Apply(std::span<float* const> rows, const float* gradients) const {
  return variable_.optimizer->ApplyRows(rows, dimension_, gradients);
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
  state.values.resize(numbers.size() * dimension_);
  state.slots.resize(variable_.optimizer->slots().size());
  for (auto& slot : state.slots) slot.resize(state.values.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const float* row = Row(numbers[i]);
    state.keys[i] = keys_[numbers[i]];
    std::memcpy(&state.values[i * dimension_], row, dimension_ * sizeof(float));
    for (std::size_t slot = 0; slot < state.slots.size(); ++slot) {
      std::memcpy(&state.slots[slot][i * dimension_], row + (slot + 1) * dimension_,
                  dimension_ * sizeof(float));
    }
  }
  return state;
}

// Marks stay 0: after a restore the next copy is whole anyway (Shard::CopyForCheckpoint finds no
// base), so a row that was loaded has not been "written".
void TableShard::Load(const TableState& state) {
  Resolve(state.keys, /*initialise=*/false);
  for (std::size_t i = 0; i < state.keys.size(); ++i) {
    float* row = Row(numbers_[i]);
    std::memcpy(row, &state.values[i * dimension_], dimension_ * sizeof(float));
    for (std::size_t slot = 0; slot < state.slots.size(); ++slot) {
      std::memcpy(row + (slot + 1) * dimension_, &state.slots[slot][i * dimension_],
                  dimension_ * sizeof(float));
    }
  }
}

}  // namespace pstrain
