#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/requests/requests.h"
#include "runtime/shard/catalog.h"
#include "runtime/shard/shard_copy.h"
#include "runtime/shard/shard_state.h"
#include "runtime/shard/table_shard.h"

namespace pstrain {

/// One shard: values, slots, applied set and counts of records, which always belong together: every
/// public function leaves them as if each work id of the set had been applied exactly once, whole,
/// and nothing else. Knows nothing of threads, messages or files. Owner: ShardEngine; its owner
/// thread only.
class Shard {
 public:
  /// Initial values, nothing applied.
  Shard(std::shared_ptr<const Catalog> catalog, ShardId id, ShardTerm term);
  /// What was declared after the state was copied has its initial values. INVALID_ARGUMENT when the
  /// state does not fit the catalog: other partitions, tables, sizes, rows of another shard, an
  /// applied set of other epochs. ABORTED: it has variables that the catalog does not have yet.
  static Result<std::unique_ptr<Shard>> Restore(std::shared_ptr<const Catalog> catalog,
                                                ShardTerm term, ShardState state);

  /// Adds what `catalog` has and the shard has not, with initial values. REQUIRES: it begins with
  /// the variables of the shard's own, or the other way round, which changes nothing.
  void Extend(std::shared_ptr<const Catalog> catalog);

  ShardId id() const { return id_; }
  ShardTerm term() const { return term_; }
  /// Serves again if it was frozen. What was copied for checkpoints under the former term is no
  /// base any more.
  void set_term(ShardTerm term);
  /// Frozen: another ps has taken the copy, nothing changes any more.
  bool frozen() const { return frozen_; }
  void Freeze() { frozen_ = true; }
  /// What this shard is and has applied, without its values.
  ShardCopy Describe() const { return {id_, term_, true, applied_, examples_}; }
  std::size_t rows() const { return rows_; }
  /// Values, slots, keys and index.
  std::size_t bytes() const { return bytes_; }
  /// OK, or OUT_OF_RANGE naming the first variable that was infinite or not a number after a push,
  /// and that push. Such a shard must not be copied: no copy of it can be trained further.
  const Status& health() const { return health_; }

  /// True if every work id below is in the values.
  bool HasAllBelow(WorkId work_id) const { return applied_.ContainsAllBelow(work_id); }
  /// REQUIRES: the section passed Catalog::Check and `out` has Catalog::ReplyBytes of it.
  void Read(const PullSection& section, std::span<std::byte> out);
  /// Applies all of the section of `request`, remembers its work id and counts its records, or does
  /// nothing. A push that was left out (PushRequest::non_finite) changes no value; a gradient for
  /// the same batch that comes later takes its place, and counts as applied. REQUIRES: passed
  /// Catalog::Check.
  PushStatus Apply(const PushRequest& request, const PushSection& section);
  void CloseEpochsBelow(std::uint32_t epoch) { applied_.CloseEpochsBelow(epoch); }
  ShardState Copy() const;
  /// The copy for `checkpoint`: incremental when `base` was copied in this term, else whole. Rows
  /// written after this call are what a later copy with base `checkpoint` holds, whatever becomes
  /// of the checkpoints in between; bases older than `base` are forgotten.
  ShardState CopyForCheckpoint(const std::string& checkpoint, const std::string& base);

 private:
  /// Without a catalog.
  Shard(ShardId id, ShardTerm term) : id_(id), term_(term) {}
  /// The tables of the variables with ids below `end` that are not here yet.
  void AddTables(std::uint32_t end);
  ShardState CopyWithoutRows() const;
  DenseState& Dense(VariableId variable, std::uint32_t partition);
  /// Of the partition, or of each variable of the pack in turn.
  template <typename Work>
  void ForEachDense(VariableId variable, std::uint32_t partition, Work work);
  std::size_t MeasureBytes() const;
  bool IsDense(VariableId variable) const { return table_of_[variable] == nullptr; }
  /// Returns how many bytes it wrote.
  std::size_t ReadDenseRows(const RowKeys& rows, std::byte* out);
  bool ApplyDenseRows(const RowUpdates& rows);
  /// Makes the rows of all tables that are not there, marks all with `mark` and puts the place of
  /// each into located_. Rows of dense variables are passed over.
  template <typename Tables>
  void Locate(const Tables& tables, std::uint32_t mark);
  void ApplyUpdates(WorkId work_id, const PushSection& section);
  void NoteNonFinite(VariableId variable, WorkId work_id);
  TableShard& Table(VariableId variable) { return *table_of_[variable]; }

  std::shared_ptr<const Catalog> catalog_;
  const ShardId id_;
  ShardTerm term_;
  bool frozen_ = false;
  std::vector<DenseState> dense_;                    // in the order of Catalog::DenseOf
  std::vector<std::unique_ptr<TableShard>> tables_;  // by variable
  std::vector<TableShard*> table_of_;  // by variable, as many as are known here; null: dense
  std::size_t rows_ = 0;               // of all tables
  std::size_t bytes_ = 0;
  // Scratch.
  std::vector<std::byte*> located_;
  std::vector<std::uint32_t> numbers_;
  AppliedSet applied_;
  std::int64_t examples_ = 0;
  std::int64_t skipped_ = 0;
  std::int64_t non_finite_ = 0;
  std::set<WorkId> left_out_;
  Status health_;
  std::uint32_t mark_ = 1;  // of the rows that are written now
  /// The last base and the checkpoint that may become the next: rows written since have marks
  /// above.
  std::map<std::string, std::uint32_t> copied_;
};

}  // namespace pstrain
