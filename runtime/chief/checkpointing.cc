#include "runtime/chief/checkpointing.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/seconds.h"
#include "proto/job/fixed_fields.h"
#include "runtime/checkpoint/chief_term.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/newest_checkpoint.h"
#include "runtime/checkpoint/program_mark.h"
#include "runtime/chief/peers/ps_messages.h"
#include "runtime/rpc/control_shards.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

constexpr seconds kShortestPause{1};
constexpr seconds kLongestPause{30};
/// A checkpoint that takes longer is named in the log and in the job's status.
constexpr seconds kSlow{60};

Status NobodyWaits() { return AbortedError("the program does not wait for its mark any more"); }

std::string ListOf(const std::set<std::uint32_t>& ps) {
  std::string list;
  for (const std::uint32_t index : ps) list += (list.empty() ? "" : ", ") + std::to_string(index);
  return list;
}

}  // namespace

Checkpointing::Checkpointing(const ChiefDependencies& chief, PsPeers& ps,
                             const EvaluatorPeer& evaluator)
    : chief_(chief),
      ps_(ps),
      evaluator_(evaluator),
      marks_(chief),
      old_(chief),
      last_(chief.clock.Now()),
      pauses_({.initial = kShortestPause, .cap = kLongestPause}),
      newest_since_(last_) {
  chief_.stats.checkpoint_interval->Set(InSeconds(chief_.setup.job.checkpoints.every));
  if (!chief_.setup.checkpoint) return;
  newest_ = chief_.setup.checkpoint->id;
  const CheckpointManifest& manifest = chief_.setup.checkpoint->manifest;
  PublishNewest(manifest);
  applied_ = CountsOf(manifest);
  // A job whose spec.training.epochs was raised since continues.
  const std::int64_t expected = chief_.protocol.Progress().examples_expected;
  const bool proven = applied_.lowest == expected && applied_.highest == expected;
  // Nor does one end the run that lacks what was declared while it was put in place.
  const bool whole = proven && manifest.generation() >= chief_.run.generation();
  if (manifest.final() && whole && manifest.epochs() >= chief_.setup.job.epochs) {
    final_ = manifest;
    final_since_ = last_;
    chief_.protocol.early_end().Close();
  }
}

void Checkpointing::ForgiveGap(std::chrono::nanoseconds gap) {
  final_since_ = chief_.Forgiven(final_since_, gap);
}

std::uint64_t Checkpointing::BatchesReopened() const {
  const auto& former = chief_.setup.checkpoint;
  return (former ? former->manifest.batches_reopened() : 0) +
         chief_.protocol.Progress().work_ids_reopened;
}

bool Checkpointing::Covered() const {
  return newest_ && chief_.protocol.Progress().work_ids_committed == work_ids_at_newest_;
}

// Who is told to stop has little time left.
std::chrono::nanoseconds Checkpointing::Pause() const {
  const bool awaited =
      chief_.protocol.draining() || chief_.protocol.CheckpointWanted() || marks_.wanted() != 0;
  return awaited ? std::min<std::chrono::nanoseconds>(pause_, kShortestPause) : pause_;
}

bool Checkpointing::Due() const {
  const CommitProtocol& protocol = chief_.protocol;
  if (in_progress_ || final_ || !protocol.AllActive() || !ps_.AllInformed()) return false;
  if (failures_ > 0 && chief_.Since(failed_at_) < Pause()) return false;
  if (protocol.Complete() || protocol.CheckpointWanted() || MarkDue()) return true;
  if (chief_.protocol.LogFull()) return true;
  if (evaluator_.RestoredStateWanted() && placed_ == 0) return true;
  if (protocol.Drained()) return !Covered();
  const std::uint64_t work_ids = protocol.Progress().work_ids_committed;
  const ChiefJob::Checkpoints& rule = chief_.setup.job.checkpoints;
  if (rule.every_steps > 0 && work_ids >= work_ids_at_newest_ + rule.every_steps) return true;
  return rule.every > seconds(0) && work_ids != work_ids_at_newest_ &&
         chief_.Since(last_) >= rule.every;
}

void Checkpointing::Start() {
  const Marks::Number mark = MarkDue() ? marks_.wanted() : 0;
  std::optional<CheckpointPlan> plan = chief_.protocol.StartCheckpoint(mark != 0);
  if (!plan) return;
  last_ = chief_.clock.Now();
  const CheckpointId id{chief_.chief_term(), next_number_++};
  in_progress_.emplace(InProgress{});
  in_progress_->id = id;
  in_progress_->plan = std::move(*plan);
  in_progress_->mark = mark;
  in_progress_->generation = chief_.run.generation();
  in_progress_->work_ids = chief_.protocol.Progress().work_ids_committed;
  chief_.disk.Post("make a checkpoint's folder",
                   [this, id, run_directory = chief_.run.run_directory()]() -> Disk::Then {
                     const Status made = CreateCheckpointDirectory(run_directory, id).status();
                     return [this, id, made] { HaveShardsWritten(id, made); };
                   });
}

void Checkpointing::HaveShardsWritten(const CheckpointId& id, const Status& folder) {
  in_progress_->with_disk = false;
  in_progress_->status = folder;
  if (!folder.ok()) return;
  for (const CheckpointPlan::Ps& ps : in_progress_->plan.ps) {
    WriteCheckpointShardsRequest request = ToRequest(in_progress_->plan, ps, chief_.chief_term());
    request.set_checkpoint(CheckpointName(id));
    in_progress_->pending.insert(ps.index);
    const bool sent = ps_.WriteCheckpointShards(
        ps.index, std::move(request),
        [this, id, index = ps.index](const Result<WriteCheckpointShardsReply>& reply) {
          ShardsWritten(id, index, reply);
        });
    if (sent) continue;
    in_progress_->pending.erase(ps.index);
    in_progress_->status = AbortedError("ps " + std::to_string(ps.index) + " is gone");
  }
}

void Checkpointing::ShardsWritten(const CheckpointId& id, std::uint32_t ps,
                                  const Result<WriteCheckpointShardsReply>& reply) {
  if (!in_progress_ || in_progress_->id != id) return;
  in_progress_->pending.erase(ps);
  if (!reply.ok()) {
    in_progress_->status = reply.status().WithContext("ps " + std::to_string(ps));
    if (reply.status().code() == StatusCode::kAborted) NotInTerm(ps, reply.status());
    return;
  }
  in_progress_->checkpoint_shards.insert(in_progress_->checkpoint_shards.end(),
                                         reply->checkpoint_shards().begin(),
                                         reply->checkpoint_shards().end());
  Result<std::vector<ShardCopy>> copies = AllFromWire<ShardCopy>(reply->copies());
  if (!copies.ok()) in_progress_->status = copies.status();
  for (ShardCopy& copy : copies.ok() ? *copies : std::vector<ShardCopy>()) {
    in_progress_->copies.insert_or_assign(copy.shard, std::move(copy));
  }
  if (!in_progress_->pending.empty()) {
    chief_.context.fail_points.Pass(FailPoint::kChiefBetweenCheckpointShards);
  }
}

bool Checkpointing::StillOwns(const CheckpointPlan::Ps& ps) const {
  return std::ranges::all_of(ps.shards, [this](const ShardInTerm& wanted) {
    return chief_.protocol.membership().IsActive(wanted);
  });
}

// Rule 8: only the chief makes terms. So a ps that lacks a shard in the current one has lost it, or
// serves it no more; when all is committed, no worker comes to find that out.
void Checkpointing::NotInTerm(std::uint32_t ps, const Status& status) {
  const auto& planned = in_progress_->plan.ps;
  const auto part = std::ranges::find(planned, ps, &CheckpointPlan::Ps::index);
  if (part == planned.end() || !StillOwns(*part)) return;
  in_progress_->refused = true;
  ps_.HaveRegisterAgain(ps, part->incarnation, status);
}

Status Checkpointing::OfThisGeneration() const {
  return in_progress_->generation == chief_.run.generation()
             ? OkStatus()
             : AbortedError("variables were declared while it was taken");
}

bool Checkpointing::Overtaken() const {
  if (in_progress_->refused) return false;
  if (!OfThisGeneration().ok()) return true;
  if (MarkGivenUp()) return true;
  // What the shards of a final one, or of a mark's, lacked is granted again first.
  if (in_progress_->plan.whole && !chief_.protocol.AllCommitted()) return true;
  return !std::ranges::all_of(in_progress_->plan.ps,
                              [this](const CheckpointPlan::Ps& ps) { return StillOwns(ps); });
}

CheckpointManifest Checkpointing::MakeManifest() const {
  CheckpointManifest manifest;
  manifest.set_run_id(chief_.context.run_id);
  manifest.set_chief_term(in_progress_->id.chief_term);
  manifest.set_number(in_progress_->id.number);
  manifest.set_shards(chief_.run.shards());
  manifest.set_batches_per_epoch(chief_.run.batches_per_epoch());
  *manifest.mutable_variables() = chief_.run.variables();
  manifest.set_generation(chief_.run.generation());
  manifest.set_created_unix_ms(chief_.clock.UnixMillis());
  const CommitProgress progress = chief_.protocol.Progress();
  manifest.set_examples_committed(progress.examples_committed);
  manifest.set_examples_expected(progress.examples_expected);
  manifest.set_batches_reopened(BatchesReopened());
  *manifest.mutable_job() = FixedPart(chief_.context.job.spec);
  manifest.set_final(in_progress_->plan.final);
  manifest.set_epochs(chief_.setup.job.epochs);
  for (const CheckpointShard& checkpoint_shard : in_progress_->checkpoint_shards) {
    *manifest.add_checkpoint_shards() = checkpoint_shard;
    if (checkpoint_shard.incremental()) manifest.set_base(in_progress_->plan.base);
  }
  return manifest;
}

std::vector<WrittenCheckpointShard> Checkpointing::Written() const {
  std::vector<WrittenCheckpointShard> written;
  for (const CheckpointShard& checkpoint_shard : in_progress_->checkpoint_shards) {
    WrittenCheckpointShard& shard = written.emplace_back();
    shard.shard = checkpoint_shard.shard();
    shard.term = {checkpoint_shard.chief_term(), checkpoint_shard.term_counter()};
    shard.incremental = checkpoint_shard.incremental();
    shard.bytes = checkpoint_shard.bytes();
    shard.examples = checkpoint_shard.examples_applied();
    const auto copy = in_progress_->copies.find(shard.shard);
    if (copy == in_progress_->copies.end()) continue;
    shard.applied = copy->second.applied;
    shard.left_out = copy->second.left_out;
  }
  return written;
}

// Rule 5. The terms are compared twice, because the lock is not held while the manifest is written:
// before, so that no manifest is placed in vain, and after. One that was placed and is refused then
// is removed again. Nobody has been told of it; a chief that would find it, after a crash of this
// one, could use it: each copy in it was an owner's, and says itself what it has applied.
void Checkpointing::PlaceManifest() {
  std::ranges::sort(in_progress_->checkpoint_shards, {}, &CheckpointShard::shard);
  // Of the shards, some may have been copied before the declaration and some after it.
  if (Status same = OfThisGeneration(); !same.ok()) return Abandon(same);
  if (Status fits = chief_.protocol.FinishCheckpoint(Written()); !fits.ok()) return Abandon(fits);
  in_progress_->with_disk = true;
  chief_.disk.Post("write a manifest",
                   [this, id = in_progress_->id, run_directory = chief_.run.run_directory(),
                    term = chief_.setup.directory.term(), manifest = MakeManifest(),
                    mark = in_progress_->mark != 0 ? std::optional(marks_.MarkOf(in_progress_->id))
                                                   : std::nullopt]() -> Disk::Then {
                     const FailPoints& points = chief_.context.fail_points;
                     const auto last_check = [&]() -> Status {
                       PSTRAIN_RETURN_IF_ERROR(CheckChiefTerm(run_directory, term));
                       points.Pass(FailPoint::kChiefBeforeRename);
                       return OkStatus();
                     };
                     const std::string folder = CheckpointDirectory(run_directory, id);
                     Status placed = mark ? WriteMark(folder, *mark) : OkStatus();
                     if (placed.ok()) placed = WriteManifest(folder, manifest, last_check);
                     // The chief after this one may have begun at the mark before.
                     if (placed.ok() && mark) placed = CheckChiefTerm(run_directory, term);
                     if (placed.ok()) points.Pass(FailPoint::kChiefAfterRename);
                     return [this, placed, manifest] { ManifestPlaced(placed, manifest); };
                   });
}

void Checkpointing::Abandon(const Status& status) {
  chief_.protocol.CheckpointFailed();
  chief_.stats.checkpoints_abandoned->Add();
  // The next one can be taken as soon as every shard has its owner.
  const bool overtaken = status.code() == StatusCode::kAborted && Overtaken();
  if (!overtaken) {
    if (failures_++ == 0) failing_since_ = last_;
    error_ = status;
    pause_ = pauses_.Next();
    failed_at_ = chief_.clock.Now();
  }
  LogWarning("chief", "a checkpoint was abandoned",
             {{"checkpoint", CheckpointName(in_progress_->id)},
              {"reason", status},
              {"run_waits_for_it", in_progress_->plan.final},
              {"failed_in_a_row", failures_},
              {"no_checkpoint_for_seconds", InSeconds(chief_.Since(newest_since_))},
              {"again_in_seconds", overtaken ? 0.0 : InSeconds(Pause())}});
  old_.Remove(in_progress_->id);
  marks_.Abandoned(status, in_progress_->mark);
  in_progress_.reset();
  ps_.Dispatch();
}

void Checkpointing::Finish() {
  if (!in_progress_ || in_progress_->with_disk || !in_progress_->pending.empty()) return;
  if (in_progress_->status.ok() && MarkGivenUp()) in_progress_->status = NobodyWaits();
  if (!in_progress_->status.ok()) return Abandon(in_progress_->status);
  PlaceManifest();
}

void Checkpointing::ManifestPlaced(Status status, const CheckpointManifest& manifest) {
  // Rule 13: of a checkpoint that others follow it is enough to be of one generation.
  if (status.ok() && manifest.final()) status = OfThisGeneration();
  if (status.ok() && MarkGivenUp()) status = NobodyWaits();
  if (status.ok()) status = chief_.protocol.FinishCheckpoint(Written());
  if (!status.ok()) return Abandon(status);
  applied_ = CountsOf(manifest);
  newest_ = in_progress_->id;
  newest_since_ = chief_.clock.Now();
  work_ids_at_newest_ = in_progress_->work_ids;
  if (manifest.final()) {
    final_ = manifest;
    final_since_ = newest_since_;
  }
  if (failures_ > 0) {
    LogInfo("chief", "checkpoints can be written again",
            {{"after_seconds", InSeconds(chief_.Since(failing_since_))},
             {"failed_in_a_row", failures_}});
  }
  failures_ = 0;
  pauses_.Reset();
  ++placed_;
  chief_.stats.checkpoints->Add();
  chief_.stats.checkpoint_duration->Observe(newest_since_ - last_);
  PublishNewest(manifest);
  chief_.protocol.CheckpointPlaced(CheckpointName(in_progress_->id));
  std::uint64_t bytes = 0;
  for (const CheckpointShard& shard : manifest.checkpoint_shards()) bytes += shard.bytes();
  LogInfo("chief", "checkpoint in place",
          {{"checkpoint", CheckpointName(in_progress_->id)},
           {"base", manifest.base()},
           {"bytes", bytes},
           {"seconds", InSeconds(chief_.Since(last_))},
           {"final", in_progress_->plan.final}});
  NoteNewest(in_progress_->id);
  const InProgress placed = *std::exchange(in_progress_, std::nullopt);
  if (placed.mark != 0) marks_.Placed(placed.id, placed.mark);
  Retain();
  ps_.Dispatch();
}

void Checkpointing::PublishNewest(const CheckpointManifest& manifest) {
  chief_.stats.checkpoint_last->Set(static_cast<double>(manifest.created_unix_ms()) / 1000);
}

void Checkpointing::NoteNewest(CheckpointId id) {
  chief_.disk.Post("note the newest checkpoint",
                   [id, run_directory = chief_.run.run_directory()]() -> Disk::Then {
                     const Status noted = NoteNewestCheckpoint(run_directory, id);
                     return [noted] {
                       if (noted.ok()) return;
                       LogWarning("chief", "the newest checkpoint is not noted; a listing has it",
                                  {{"error", noted}});
                     };
                   });
}

void Checkpointing::Retain() {
  if (!evaluator_.PinKnown()) return;
  std::set<CheckpointId> pinned = marks_.Pinned();
  pinned.merge(evaluator_.scores().Pinned());
  if (evaluator_.pinned()) pinned.insert(*evaluator_.pinned());
  old_.Retain(std::move(pinned));
}

CheckpointProblem Checkpointing::problem() const {
  CheckpointProblem problem{.age = chief_.Since(newest_since_), .failing = {}, .error = {}};
  if (failures_ > 0) {
    problem.failing = chief_.Since(failing_since_);
    problem.error = error_;
  } else if (in_progress_ && chief_.Since(last_) > kSlow) {
    problem.failing = chief_.Since(last_);
  }
  return problem;
}

void Checkpointing::Watch() {
  marks_.Watch();
  if (!in_progress_ || in_progress_->warned || chief_.Since(last_) <= kSlow) return;
  in_progress_->warned = true;
  LogWarning("chief", "a checkpoint takes long",
             {{"checkpoint", CheckpointName(in_progress_->id)},
              {"waits_for", in_progress_->with_disk ? std::string("the run's directory")
                                                    : "ps " + ListOf(in_progress_->pending)},
              {"seconds", InSeconds(chief_.Since(last_))}});
}

}  // namespace pstrain
