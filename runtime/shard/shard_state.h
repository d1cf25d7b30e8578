#pragma once

#include <cstdint>
#include <vector>

#include "runtime/requests/ids.h"
#include "runtime/requests/values.h"
#include "runtime/shard/applied_set.h"

namespace pstrain {

/// The state of a shard as data, apart from the shard that serves it. Values; one thread at a time.

/// A dense partition with its optimizer's slots, of its dtype: each as long as `values`, or of one
/// element (OptimizerSlot::OfPartition).
struct DenseState {
  VariableId variable = 0;
  std::uint32_t partition = 0;
  ValueArray values;
  std::vector<ValueArray> slots;
  friend bool operator==(const DenseState&, const DenseState&) = default;
};

/// Rows of one embedding table in a shard, in any order: all that exist, or in an incremental state
/// those that were written since its base.
struct TableState {
  VariableId variable = 0;
  /// Global row ids, unique.
  std::vector<std::uint64_t> keys;
  /// keys.size() x dimension; a slot keys.size() x as many elements as it has beside a row
  /// (OptimizerSlot::OfRow).
  ValueArray values;
  std::vector<ValueArray> slots;
  friend bool operator==(const TableState&, const TableState&) = default;
};

/// A copy of everything that a shard is: what a checkpoint stores and a restore brings back; an
/// incremental one is whole only together with its base (runtime/checkpoint/checkpoint_chain.h). A
/// value.
struct ShardState {
  ShardId shard = 0;
  ShardTerm term;
  /// Of the catalog under which it was copied: it has all of the variables with ids below, and
  /// nothing of those that were declared later.
  std::uint32_t variables = 0;
  /// By (variable, partition).
  std::vector<DenseState> dense;
  /// By variable; every table, also without rows.
  std::vector<TableState> tables;
  AppliedSet applied;
  /// Records of the work ids in `applied`, and how many of them were bad and left out.
  std::int64_t examples = 0;
  std::int64_t skipped = 0;
  /// How many of them were in batches that were left out (PushRequest::non_finite).
  std::int64_t non_finite = 0;
  /// Those batches, ascending; each is in `applied`.
  std::vector<WorkId> left_out;
  bool incremental = false;
  friend bool operator==(const ShardState&, const ShardState&) = default;
};

}  // namespace pstrain
