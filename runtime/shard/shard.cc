#include "runtime/shard/shard.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/requests/routing.h"
#include "runtime/shard/values/dense_rows.h"
#include "runtime/shard/values/initial_state.h"
#include "runtime/shard/values/update_ops.h"

namespace pstrain {
namespace {

Status Misfit(ShardId shard, const std::string& message) {
  return InvalidArgumentError("state of shard " + std::to_string(shard) + ": " + message);
}

/// All of the variable's dtype, `elements` values, and elements_of(slot) of each slot of its
/// optimizer.
template <typename ElementsOf>
bool Fit(const CatalogVariable& variable, std::size_t elements, const ValueArray& values,
         const std::vector<ValueArray>& slots, ElementsOf elements_of) {
  const auto fits = [&](const ValueArray& array, std::size_t count) {
    return array.dtype() == variable.dtype && array.size() == count;
  };
  return fits(values, elements) &&
         std::ranges::equal(slots, variable.slots(),
                            [&](const ValueArray& array, const OptimizerSlot& slot) {
                              return fits(array, elements_of(slot));
                            });
}

Status CheckDense(const Catalog& catalog, const ShardState& state) {
  const std::span<const PartitionRef> expected = DenseBelow(catalog, state.shard, state.variables);
  if (state.dense.size() != expected.size()) {
    return Misfit(state.shard, std::to_string(state.dense.size()) + " dense partitions, not " +
                                   std::to_string(expected.size()));
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const DenseState& dense = state.dense[i];
    const CatalogVariable& variable = catalog.variables()[expected[i].variable];
    const std::uint64_t count = variable.partitions[expected[i].partition].count;
    const auto elements_of = [count](const OptimizerSlot& slot) { return slot.OfPartition(count); };
    const bool fits = PartitionRef{dense.variable, dense.partition} == expected[i] &&
                      Fit(variable, count, dense.values, dense.slots, elements_of);
    if (!fits)
      return Misfit(state.shard,
                    "a partition of " + variable.spec.name() + " differs in size or dtype");
  }
  return OkStatus();
}

Status CheckTable(const Catalog& catalog, const ShardState& state, const TableState& table) {
  const CatalogVariable& variable = catalog.variables()[table.variable];
  const std::size_t elements = table.keys.size() * variable.dimension;
  const auto elements_of = [&](const OptimizerSlot& slot) {
    return table.keys.size() * slot.OfRow(variable.dimension);
  };
  if (!Fit(variable, elements, table.values, table.slots, elements_of)) {
    return Misfit(state.shard, "the rows of " + variable.spec.name() + " differ in size or dtype");
  }
  for (const std::uint64_t key : table.keys) {
    if (key >= variable.rows || ShardOfRow(variable.route, key, catalog.modulus()) != state.shard) {
      return Misfit(state.shard, "row " + std::to_string(key) + " of " + variable.spec.name() +
                                     " is not in this shard");
    }
  }
  std::vector<std::uint64_t> sorted = table.keys;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return Misfit(state.shard, "a row of " + variable.spec.name() + " occurs twice");
  }
  return OkStatus();
}

Status CheckState(const Catalog& catalog, const ShardState& state) {
  if (state.shard >= catalog.shards()) return Misfit(state.shard, "no such shard");
  if (state.incremental) return Misfit(state.shard, "it is incremental and lacks its base");
  if (state.variables > catalog.variables().size()) {
    return AbortedError("state of shard " + std::to_string(state.shard) + ": it is of " +
                        std::to_string(state.variables) + " variables, and this ps has heard of " +
                        std::to_string(catalog.variables().size()) + " yet");
  }
  if (state.applied.batches_per_epoch() != catalog.batches_per_epoch()) {
    return Misfit(state.shard, "its applied set is of epochs of " +
                                   std::to_string(state.applied.batches_per_epoch()) + " batches");
  }
  for (const WorkId work_id : state.left_out) {
    if (state.applied.Contains(work_id)) continue;
    return Misfit(state.shard, "a batch that was left out is not in its applied set");
  }
  PSTRAIN_RETURN_IF_ERROR(CheckDense(catalog, state));
  std::size_t next = 0;
  for (VariableId id = 0; id < state.variables; ++id) {
    const CatalogVariable& variable = catalog.variables()[id];
    if (!variable.embedding) continue;
    if (next == state.tables.size() || state.tables[next].variable != variable.spec.id()) {
      return Misfit(state.shard, "table " + variable.spec.name() + " is missing");
    }
    PSTRAIN_RETURN_IF_ERROR(CheckTable(catalog, state, state.tables[next]));
    ++next;
  }
  if (next != state.tables.size()) return Misfit(state.shard, "it has an unknown table");
  return OkStatus();
}

}  // namespace

Shard::Shard(std::shared_ptr<const Catalog> catalog, ShardId id, ShardTerm term)
    : id_(id), term_(term) {
  catalog_ = catalog;
  applied_ = AppliedSet(catalog->batches_per_epoch());
  Extend(std::move(catalog));
}

void Shard::AddTables(std::uint32_t end) {
  for (auto id = static_cast<VariableId>(table_of_.size()); id < end; ++id) {
    const CatalogVariable& variable = catalog_->variables()[id];
    if (variable.embedding) tables_.push_back(std::make_unique<TableShard>(variable));
    table_of_.push_back(variable.embedding ? tables_.back().get() : nullptr);
  }
}

// What a variable begins with follows from its declaration alone, so a shard that hears of it late,
// or is restored from before it, has what every other one began with. Nothing was applied to it
// here: a push that names what the shard does not know changes nothing (early).
void Shard::Extend(std::shared_ptr<const Catalog> catalog) {
  const std::size_t known = table_of_.size();
  if (catalog->variables().size() <= known) return;
  catalog_ = std::move(catalog);
  for (const PartitionRef& ref : catalog_->DenseOf(id_)) {
    if (ref.variable >= known) dense_.push_back(InitialDense(*catalog_, ref));
  }
  AddTables(static_cast<std::uint32_t>(catalog_->variables().size()));
  bytes_ = MeasureBytes();
}

// Everything is checked before anything is kept: a state that comes from a file or from another ps
// is foreign, and a row in the wrong shard would be trained by nobody and read by nobody.
Result<std::unique_ptr<Shard>> Shard::Restore(std::shared_ptr<const Catalog> catalog,
                                              ShardTerm term, ShardState state) {
  PSTRAIN_RETURN_IF_ERROR(CheckState(*catalog, state));
  std::unique_ptr<Shard> shard(new Shard(state.shard, term));
  shard->catalog_ = catalog;
  shard->dense_ = std::move(state.dense);
  shard->AddTables(state.variables);
  for (const TableState& table : state.tables) {
    shard->Table(table.variable).Load(table);
    shard->rows_ += table.keys.size();
  }
  shard->Extend(std::move(catalog));
  shard->bytes_ = shard->MeasureBytes();
  shard->applied_ = std::move(state.applied);
  shard->examples_ = state.examples;
  shard->skipped_ = state.skipped;
  shard->non_finite_ = state.non_finite;
  shard->left_out_ = {state.left_out.begin(), state.left_out.end()};
  return shard;
}

std::size_t Shard::MeasureBytes() const {
  std::size_t bytes = 0;
  for (const DenseState& dense : dense_) {
    bytes += dense.values.bytes().size();
    for (const ValueArray& slot : dense.slots) bytes += slot.bytes().size();
  }
  for (const auto& table : tables_) bytes += table->bytes();
  return bytes;
}

DenseState& Shard::Dense(VariableId variable, std::uint32_t partition) {
  const auto before = [](const DenseState& dense, const std::pair<VariableId, std::uint32_t>& key) {
    return std::pair(dense.variable, dense.partition) < key;
  };
  return *std::lower_bound(dense_.begin(), dense_.end(), std::pair(variable, partition), before);
}

template <typename Work>
void Shard::ForEachDense(VariableId variable, std::uint32_t partition, Work work) {
  if (partition != kWholePack) return work(Dense(variable, partition));
  for (const VariableId member : catalog_->variables()[variable].pack) work(Dense(member, 0));
}

// Three passes over all tables instead of one over each: rows are scattered over memory, and while
// one is on its way from there the next can be asked for (docs/performance-profile.md).
template <typename Tables>
void Shard::Locate(const Tables& tables, std::uint32_t mark) {
  std::size_t count = 0;
  std::size_t most = 0;
  for (const auto& rows : tables) {
    if (IsDense(rows.variable)) continue;
    Table(rows.variable).Prefetch(rows.keys);
    count += rows.keys.size();
    most = std::max(most, rows.keys.size());
  }
  located_.resize(count);
  numbers_.resize(most);
  std::span<std::byte*> places(located_);
  std::size_t made = 0;
  for (const auto& rows : tables) {
    if (IsDense(rows.variable)) continue;
    made += Table(rows.variable).Locate(rows.keys, places, mark, numbers_);
    places = places.subspan(rows.keys.size());
  }
  if (made == 0) return;
  rows_ += made;
  bytes_ = MeasureBytes();
}

// A row that is only read is made too, with its initial values, but not marked as written: any
// shard that is asked for it later makes the same row, so no checkpoint has to hold it.
void Shard::Read(const PullSection& section, std::span<std::byte> out) {
  std::byte* next = out.data();
  // The room is not initialised, nor what lies between two arrays.
  const auto end_array = [&next](std::size_t bytes) {
    std::memset(next + bytes, 0, AlignedBytes(bytes) - bytes);
    next += AlignedBytes(bytes);
  };
  for (const DenseRead& read : section.dense) {
    std::size_t bytes = 0;
    ForEachDense(read.variable, read.partition, [&](const DenseState& dense) {
      const auto values = dense.values.bytes();
      std::memcpy(next + bytes, values.data(), values.size());
      bytes += values.size();
    });
    end_array(bytes);
  }
  Locate(section.tables, TableShard::kUnmarked);
  std::span<std::byte* const> places(located_);
  for (const RowKeys& rows : section.tables) {
    if (IsDense(rows.variable)) {
      end_array(ReadDenseRows(rows, next));
      continue;
    }
    const TableShard& table = Table(rows.variable);
    table.Read(places.first(rows.keys.size()), next);
    places = places.subspan(rows.keys.size());
    end_array(rows.keys.size() * table.row_bytes());
  }
}

std::size_t Shard::ReadDenseRows(const RowKeys& rows, std::byte* out) {
  const CatalogVariable& variable = catalog_->variables()[rows.variable];
  const std::size_t size = SizeOf(variable.dtype);
  std::size_t bytes = 0;
  ForEachRun(variable, rows.keys, [&](const DenseRun& run) {
    const DenseState& dense = Dense(rows.variable, run.partition);
    std::memcpy(out + bytes, dense.values.bytes().data() + run.first * size, run.count * size);
    bytes += run.count * size;
  });
  return bytes;
}

bool Shard::ApplyDenseRows(const RowUpdates& rows) {
  const CatalogVariable& variable = catalog_->variables()[rows.variable];
  std::size_t next = 0;
  bool finite = true;
  ForEachPartition(variable, rows.keys, [&](const std::vector<DenseRun>& runs) {
    const std::size_t count = CountOf(runs);
    finite &= ApplyRuns(variable, runs, rows.op, rows.values.Part(next, count),
                        &Dense(rows.variable, runs.front().partition));
    next += count;
  });
  return finite;
}

// Rule 3 of the commit protocol, Apply. The work id goes in first, and nothing between it and the
// end can fail: the request was checked whole before (Catalog::Check) and memory that runs out ends
// the process, whose shards are then restored from a checkpoint. So there is no moment at which a
// copy of this shard has the gradient without the work id, or the other way round.
PushStatus Shard::Apply(const PushRequest& request, const PushSection& section) {
  const bool leave_out = request.non_finite > 0;
  if (applied_.Insert(request.work_id)) {
    if (leave_out) left_out_.insert(request.work_id);
    examples_ += request.records;
    skipped_ += request.skipped;
    non_finite_ += request.non_finite;
  } else {
    const bool was_left_out = left_out_.contains(request.work_id);
    if (leave_out) return was_left_out ? PushStatus::kDuplicate : PushStatus::kHasGradient;
    if (!was_left_out) return PushStatus::kDuplicate;
    left_out_.erase(request.work_id);
    non_finite_ -= request.records - request.skipped;
  }
  ApplyUpdates(request.work_id, section);
  return PushStatus::kApplied;
}

void Shard::ApplyUpdates(WorkId work_id, const PushSection& section) {
  for (const DenseUpdate& update : section.dense) {
    std::size_t next = 0;
    ForEachDense(update.variable, update.partition, [&](DenseState& dense) {
      const ValueView values = update.values.Part(next, dense.values.size());
      next += values.size();
      const bool finite = update.op == UpdateOp::kGradient
                              ? catalog_->variables()[dense.variable].optimizer->Apply(
                                    dense.values, dense.slots, values)
                              : ApplyUpdate(update.op, values.dtype(), dense.values.bytes().data(),
                                            values.bytes().data(), values.size());
      if (!finite) NoteNonFinite(dense.variable, work_id);
    });
  }
  Locate(section.tables, mark_);
  std::span<std::byte* const> places(located_);
  for (const RowUpdates& rows : section.tables) {
    if (IsDense(rows.variable)) {
      if (!ApplyDenseRows(rows)) NoteNonFinite(rows.variable, work_id);
      continue;
    }
    if (!Table(rows.variable).Apply(places.first(rows.keys.size()), rows.op, rows.values)) {
      NoteNonFinite(rows.variable, work_id);
    }
    places = places.subspan(rows.keys.size());
  }
}

void Shard::NoteNonFinite(VariableId variable, WorkId work_id) {
  if (!health_.ok()) return;
  health_ =
      OutOfRangeError("variable " + catalog_->variables()[variable].spec.name() + " in shard " +
                      std::to_string(id_) + " is infinite or not a number after epoch " +
                      std::to_string(work_id.epoch) + ", batch " + std::to_string(work_id.batch));
}

// A new term may come with a new chief, who knows nothing of checkpoints that the former one took
// and gave up. So their marks are forgotten, and the next copy is whole (rule 5).
void Shard::set_term(ShardTerm term) {
  term_ = term;
  frozen_ = false;
  copied_.clear();
}

ShardState Shard::CopyWithoutRows() const {
  ShardState state;
  state.shard = id_;
  state.term = term_;
  state.variables = static_cast<std::uint32_t>(table_of_.size());
  state.dense = dense_;
  state.applied = applied_;
  state.examples = examples_;
  state.skipped = skipped_;
  state.non_finite = non_finite_;
  state.left_out = {left_out_.begin(), left_out_.end()};
  return state;
}

ShardState Shard::Copy() const {
  ShardState state = CopyWithoutRows();
  for (const auto& table : tables_) state.tables.push_back(table->Copy());
  return state;
}

// Rule 5 of the commit protocol, Checkpoint. Each row has the mark of the last time it was written,
// and marks grow with each checkpoint that is copied. An incremental copy has the rows with marks
// above that of its base, so it also has what an abandoned checkpoint in between had: nobody but
// the chief knows which checkpoints are in place, and it names only such as bases.
ShardState Shard::CopyForCheckpoint(const std::string& checkpoint, const std::string& base) {
  std::erase_if(copied_, [&](const auto& copied) {
    return copied.first != base && copied.first != checkpoint;
  });
  ShardState state;
  if (const auto found = copied_.find(base); found == copied_.end()) {
    state = Copy();
  } else {
    state = CopyWithoutRows();
    state.incremental = true;
    for (const auto& table : tables_) {
      state.tables.push_back(table->CopyWrittenAfter(found->second));
    }
  }
  // Of two copies for one checkpoint the first counts: nobody knows which of them the checkpoint
  // will hold.
  if (copied_.try_emplace(checkpoint, mark_).second) ++mark_;
  return state;
}

}  // namespace pstrain
