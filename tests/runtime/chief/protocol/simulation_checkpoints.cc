// Checkpoints: the chief's shell that takes them, the ps that write them, the disk.
#include <algorithm>
#include <utility>

#include "runtime/checkpoint/retention.h"
#include "tests/runtime/chief/protocol/simulation.h"

namespace pstrain {
namespace {

constexpr std::uint32_t kKeptCheckpoints = 3;

}  // namespace

void Simulation::StartCheckpoint(Chief* chief, Process process) {
  std::optional<CheckpointPlan> plan = chief->protocol.StartCheckpoint();
  if (!plan) return;
  chief->checkpoint = ActiveCheckpoint{{chief->term, next_id_++}, step_, *std::move(plan), {}};
  chief->checkpoint->committed = chief->protocol.Progress().work_ids_committed;
  for (const CheckpointPlan::Ps& part : chief->checkpoint->plan.ps) {
    for (const MembershipView::Ps& ps : chief->protocol.membership().ps) {
      if (ps.incarnation != part.incarnation) continue;
      Send([this, process, checkpoint = *chief->checkpoint, part, to = std::stoull(ps.address)] {
        WriteCheckpointShards(process, checkpoint, part, to);
      });
    }
  }
}

// The shards of a ps are copied at different moments.
void Simulation::WriteCheckpointShards(Process chief, const ActiveCheckpoint& checkpoint,
                                       const CheckpointPlan::Ps& part, Process ps) {
  for (const ShardInTerm& wanted : part.shards) {
    Send([this, chief, checkpoint, wanted, ps] {
      const auto it = ps_.find(ps);
      if (it == ps_.end()) return;
      const auto own = it->second.copies.find(wanted.shard);
      if (own == it->second.copies.end() || own->second.term != wanted.term || own->second.frozen) {
        return Send([=, this] {
          CheckpointShardArrived(chief, checkpoint.id, std::nullopt, wanted.shard);
        });
      }
      own->second.applied.CloseEpochsBelow(checkpoint.plan.close_epochs_below);
      const Copy checkpoint_shard = CopyForCheckpoint(&own->second, checkpoint);
      if (!mutations_.checkpoint_shard_not_atomic) {
        return Send([=, this] {
          CheckpointShardArrived(chief, checkpoint.id, checkpoint_shard, wanted.shard);
        });
      }
      Send([=, this] {
        const auto later = ps_.find(ps);
        if (later == ps_.end() || !later->second.copies.contains(wanted.shard)) return;
        Copy torn = checkpoint_shard;
        torn.applied = later->second.copies.at(wanted.shard).applied;
        CheckpointShardArrived(chief, checkpoint.id, torn, wanted.shard);
      });
    });
  }
}

Simulation::Copy Simulation::CopyForCheckpoint(Copy* copy,
                                               const ActiveCheckpoint& checkpoint) const {
  auto base = copy->copied.find(checkpoint.plan.base);
  if (mutations_.marks_forgotten_early && base != copy->copied.end()) {
    base = std::ranges::max_element(copy->copied, {}, [](const auto& c) { return c.second; });
  }
  Copy checkpoint_shard = *copy;
  if (base != copy->copied.end()) {
    checkpoint_shard.incremental = true;
    std::erase_if(checkpoint_shard.rows,
                  [&](const auto& row) { return row.second.mark <= base->second; });
  }
  std::erase_if(copy->copied, [&](const auto& copied) {
    const bool wanted =
        copied.first == checkpoint.plan.base || copied.first == CheckpointName(checkpoint.id);
    return !wanted && !mutations_.marks_forgotten_early;
  });
  if (copy->copied.try_emplace(CheckpointName(checkpoint.id), copy->mark).second) ++copy->mark;
  return checkpoint_shard;
}

void Simulation::CheckpointShardArrived(Process process, CheckpointId checkpoint,
                                        std::optional<Copy> checkpoint_shard, ShardId shard) {
  const auto chief = chiefs_.find(process);
  if (chief == chiefs_.end() || !chief->second->checkpoint ||
      chief->second->checkpoint->id != checkpoint)
    return;
  if (!checkpoint_shard) return AbandonCheckpoint(chief->second.get());
  chief->second->checkpoint->checkpoint_shards.insert_or_assign(shard,
                                                                *std::move(checkpoint_shard));
}

void Simulation::AbandonCheckpoint(Chief* chief) {
  chief->protocol.CheckpointFailed();
  chief->checkpoint.reset();
  ++result_.checkpoints_abandoned;
}

std::vector<WrittenCheckpointShard> Simulation::Written(const Chief& chief) const {
  AppliedSet all(run_.input.batches_per_epoch);
  for (const WorkId work_id : work_ids_) all.Insert(work_id);
  std::vector<WrittenCheckpointShard> written;
  for (const auto& [shard, copy] : chief.checkpoint->checkpoint_shards) {
    written.push_back(
        {shard, copy.term, copy.incremental, 1 + copy.rows.size(), copy.applied, copy.examples});
    if (!mutations_.left_out_is_not_told) {
      written.back().left_out.assign(copy.left_out.begin(), copy.left_out.end());
    }
    if (!mutations_.chief_believes_reports) continue;
    written.back().applied = all;
    written.back().examples = chief.protocol.Progress().examples_expected;
  }
  return written;
}

void Simulation::PlaceCheckpoint(Chief* chief, Process process) {
  const ActiveCheckpoint& active = *chief->checkpoint;
  Checkpoint checkpoint{active.id, CheckpointName(active.id), "", active.checkpoint_shards, false};
  for (const auto& [shard, checkpoint_shard] : active.checkpoint_shards) {
    if (checkpoint_shard.incremental) checkpoint.base = active.plan.base;
  }
  const bool final = active.plan.final;
  const std::uint64_t committed = active.committed;
  const std::uint64_t reopened = chief->protocol.Progress().work_ids_reopened;
  const bool looks = final || !mutations_.checkpoints_ignore_terms;
  const bool counts = !looks || chief->protocol.FinishCheckpoint(Written(*chief)).ok();
  if (chief->protocol.Progress().work_ids_reopened > reopened) {
    ++result_.incomplete_finals;
    // The proof at the end must not hide that the chief counted what a shard lacks.
    if (!false_reports_ && !leaves_out_) {
      Violated("a final checkpoint lacks what was committed by true reports");
    }
  }
  const bool superseded = chief->term < disk_term_ && !mutations_.superseded_chiefs_go_on;
  if (!counts || superseded) return AbandonCheckpoint(chief);
  CheckMayBePlaced(*chief, checkpoint);
  if (Faulty() && Chance(10)) {  // Dies before the rename.
    chiefs_.erase(process);
    return;
  }
  chief->checkpoint.reset();
  ++result_.checkpoints;
  if (!checkpoint.base.empty()) ++result_.checkpoints_incremental;
  // Only the newest checkpoint is ever damaged, and only while all others are good.
  const bool damage = Faulty() && !disk_.empty() && !final && Chance(6) &&
                      std::ranges::none_of(disk_, &Checkpoint::bad);
  disk_.push_front(std::move(checkpoint));
  CheckCheckpoint(disk_.front(), final);
  disk_.front().bad = damage;
  if (Faulty() && Chance(10)) {  // Dies after the rename.
    chiefs_.erase(process);
    return;
  }
  chief->protocol.CheckpointPlaced(disk_.front().name);
  Retain(chief);
  const CommitProgress progress = chief->protocol.Progress();
  if (final) {
    finished_ = true;
    result_.reopened = progress.work_ids_reopened;
    if (progress.examples_committed != progress.examples_expected) {
      Violated("committed is not expected");
    }
  } else if (chief->protocol.Drained() && progress.work_ids_committed == committed) {
    ReleaseAll(*chief);
  }
}

// Rules 5 and 8.
void Simulation::CheckMayBePlaced(const Chief& chief, const Checkpoint& checkpoint) {
  for (const auto& [shard, copy] : checkpoint.checkpoint_shards) {
    const MembershipView::Shard& owner = chief.protocol.membership().shards[shard];
    if (owner.active && owner.term == copy.term) continue;
    Violated("a checkpoint counts though shard " + std::to_string(shard) + " has another term");
  }
  if (chief.term < disk_term_)
    Violated("a chief places a checkpoint though there is a newer chief");
}

// Rule 11. What a false report says is in no checkpoint, and a damaged one may be what the newest
// builds on.
void Simulation::ReleaseAll(const Chief& chief) {
  ++result_.drained;
  const bool damaged = std::ranges::any_of(disk_, &Checkpoint::bad);
  for (ShardId shard = 0; shard < run_.shards && !damaged && !false_reports_; ++shard) {
    const std::optional<Copy> saved =
        disk_.empty() ? std::nullopt : ReadCheckpoint(disk_.front().name, shard);
    const auto lost = [&](WorkId work_id) {
      return chief.protocol.Committed(work_id) && (!saved || !saved->applied.Contains(work_id));
    };
    if (std::ranges::any_of(work_ids_, lost)) {
      Violated("all are released though no checkpoint has what was committed");
    }
  }
  KillEverything();
}

void Simulation::CheckCheckpoint(const Checkpoint& checkpoint, bool final) {
  const bool damaged = std::ranges::any_of(disk_, &Checkpoint::bad);
  for (const auto& [shard, checkpoint_shard] : checkpoint.checkpoint_shards) {
    const std::optional<Copy> whole = ReadCheckpoint(checkpoint.name, shard);
    if (!whole) {
      if (!damaged) Violated("a checkpoint lacks what it builds on");
      continue;
    }
    std::map<std::uint32_t, std::uint64_t> values;
    for (const auto& [number, row] : whole->rows) values[number] = row.value;
    if (values != Expected(*whole)) Violated("a checkpoint's rows are not those of its work ids");
    const auto applied = [&](WorkId work_id) { return whole->applied.Contains(work_id); };
    if (final && !disk_end_ && !std::ranges::all_of(work_ids_, applied)) {
      Violated("the final checkpoint lacks a work id in shard " + std::to_string(shard));
    }
  }
  if (final && disk_end_) CheckEarlyEnd(checkpoint);
  if (final) CheckLeftOut(checkpoint);
}

void Simulation::Retain(Chief* chief) {
  std::vector<CheckpointFolder> folders;
  for (const Checkpoint& checkpoint : disk_)
    folders.push_back({checkpoint.id, true, ParseCheckpointName(checkpoint.base)});
  if (mutations_.retention_ignores_bases) {
    for (CheckpointFolder& folder : folders) folder.base.reset();
  }
  for (const CheckpointId& id : PlanRetention(folders, {kKeptCheckpoints, chief->term, {}})) {
    chief->protocol.CheckpointRemoved(CheckpointName(id));
    std::erase_if(disk_, [&](const Checkpoint& checkpoint) { return checkpoint.id == id; });
  }
}

std::optional<Simulation::Copy> Simulation::ReadCheckpoint(const std::string& name,
                                                           ShardId shard) const {
  const auto checkpoint = std::ranges::find(disk_, name, &Checkpoint::name);
  if (checkpoint == disk_.end() || checkpoint->bad) return std::nullopt;
  Copy copy = checkpoint->checkpoint_shards.at(shard);
  if (!copy.incremental) return copy;
  const std::optional<Copy> base = ReadCheckpoint(checkpoint->base, shard);
  if (!base || base->term != copy.term) return std::nullopt;
  copy.rows.insert(base->rows.begin(), base->rows.end());
  copy.incremental = false;
  return copy;
}

}  // namespace pstrain
