#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/requests/requests.h"
#include "runtime/shard/catalog.h"
#include "runtime/shard/row_index.h"
#include "runtime/shard/shard_state.h"

namespace pstrain {

/// The rows of one embedding table in one shard. A row (values, then slots) lies in a slab and is
/// made, with its initial values, when it is first read or written. A step visits each of the many
/// tables of a ps for a few rows, so what a visit needs lies together, in the object's first two
/// cache lines. Owner: Shard; one thread.
class alignas(64) TableShard {
 public:
  explicit TableShard(const CatalogVariable& variable);

  VariableId variable() const { return variable_.spec.id(); }
  /// Of the values of a row.
  std::size_t row_bytes() const { return row_bytes_; }
  std::size_t rows() const { return keys_.size(); }
  std::size_t bytes() const;

  /// Asks memory for what Locate of these keys will look at. Reading and writing rows waits for
  /// memory most of the time, so a caller with several tables does each of Prefetch, Locate and the
  /// work for all of them before the next.
  void Prefetch(std::span<const std::uint64_t> keys) const { index_.Prefetch(keys); }
  /// Where each row lies, and asks memory for it; rows that do not exist are made. Rows stay where
  /// they are. Rows that will be written have a `mark`: they are marked with it, and their slots
  /// are asked for too; kUnmarked for the others. Returns how many were made. REQUIRES: as many
  /// places as keys, and room for as many `numbers`, in which it works.
  static constexpr std::uint32_t kUnmarked = 0;
  std::size_t Locate(std::span<const std::uint64_t> keys, std::span<std::byte*> rows,
                     std::uint32_t mark, std::span<std::uint32_t> numbers);
  /// rows.size() x dimension values to `out`. REQUIRES: `rows` are of Locate.
  void Read(std::span<std::byte* const> rows, std::byte* out) const;
  /// Carries the op out on each row, of which `values` has one after the other; false as
  /// OptimizerRule::Apply. REQUIRES: as Read, and no row twice; the update passed Catalog::Check.
  bool Apply(std::span<std::byte* const> rows, UpdateOp op, const ValueView& values) const;

  TableState Copy() const;
  /// Only rows whose mark is above `mark`.
  TableState CopyWrittenAfter(std::uint32_t mark) const;
  /// REQUIRES: rows() == 0, the state fits the variable.
  void Load(const TableState& state);

 private:
  std::byte* Row(std::uint32_t number) {
    return slabs_[number >> rows_per_slab_log2_].get() +
           (number & ((1u << rows_per_slab_log2_) - 1)) * stride_;
  }
  const std::byte* Row(std::uint32_t number) const {
    return const_cast<TableShard*>(this)->Row(number);
  }
  /// The number of each key; makes room for new rows and, if asked, initialises them. Returns how
  /// many are new.
  std::size_t Resolve(std::span<const std::uint64_t> keys, std::span<std::uint32_t> numbers,
                      bool initialise);
  TableState CopyRows(std::span<const std::uint32_t> numbers) const;

  /// Begins with a cache line, so that a row of whole lines has no part of another one.
  struct FreeSlab {
    void operator()(std::byte* slab) const;
  };
  using Slab = std::unique_ptr<std::byte[], FreeSlab>;
  static Slab MakeSlab(std::size_t bytes);

  // What each visit needs comes first.
  RowIndex index_;
  const std::size_t row_bytes_;  // of its values
  const std::size_t stride_;     // bytes of a row with its slots
  const std::size_t dimension_;
  std::vector<Slab> slabs_;
  std::vector<std::uint32_t> marks_;  // by number; 0: not written since it was made or loaded
  std::uint32_t rows_per_slab_log2_ = 0;
  const OptimizerRule* const optimizer_;  // that of variable_
  std::vector<std::uint64_t> keys_;       // by number
  const CatalogVariable variable_;
};

}  // namespace pstrain
