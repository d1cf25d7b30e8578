#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/ps/catalog.h"
#include "runtime/ps/row_index.h"
#include "runtime/ps/shard_state.h"

namespace pstrain {

/// The rows of one embedding table in one shard. A row (values, then slots) lies in a slab and is
/// made, with its initial values, when it is first read or written. Owner: Shard; one thread.
class TableShard {
 public:
  /// `variable` must outlive this.
  explicit TableShard(const CatalogVariable& variable);

  VariableId variable() const { return variable_.spec.id(); }
  std::size_t rows() const { return keys_.size(); }
  std::size_t bytes() const;

  /// keys.size() x dimension values to `out`. Returns how many rows were made.
  std::size_t Read(std::span<const std::uint64_t> keys, float* out);
  /// One optimizer step of each row, which is marked with `mark`. Returns how many rows were made.
  /// REQUIRES: keys are unique, mark > 0.
  std::size_t Apply(std::span<const std::uint64_t> keys, const float* gradients,
                    std::uint32_t mark);

  TableState Copy() const;
  /// Only rows whose mark is above `mark`.
  TableState CopyWrittenAfter(std::uint32_t mark) const;
  /// REQUIRES: rows() == 0, the state fits the variable.
  void Load(const TableState& state);

 private:
  float* Row(std::uint32_t number) {
    return slabs_[number >> rows_per_slab_log2_].get() +
           (number & ((1u << rows_per_slab_log2_) - 1)) * stride_;
  }
  const float* Row(std::uint32_t number) const {
    return const_cast<TableShard*>(this)->Row(number);
  }
  /// Numbers of the keys in numbers_; makes room for new rows and, if asked, initialises them.
  /// Returns how many are new.
  std::size_t Resolve(std::span<const std::uint64_t> keys, bool initialise);
  TableState CopyRows(std::span<const std::uint32_t> numbers) const;

  const CatalogVariable& variable_;
  const std::size_t dimension_;
  const std::size_t stride_;  // floats of a row with its slots
  std::uint32_t rows_per_slab_log2_ = 0;
  std::unique_ptr<RowIndex> index_;
  std::vector<std::uint64_t> keys_;   // by number
  std::vector<std::uint32_t> marks_;  // by number; 0: not written since it was made or loaded
  std::vector<std::unique_ptr<float[]>> slabs_;
  std::vector<std::uint32_t> numbers_;  // scratch
  std::vector<float*> row_pointers_;    // scratch
};

}  // namespace pstrain
