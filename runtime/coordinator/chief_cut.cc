#include <algorithm>
#include <utility>

#include "base/log.h"
#include "runtime/checkpoint/chief_epoch.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/retention.h"
#include "runtime/coordinator/chief.h"

namespace pstrain {
namespace {

constexpr std::chrono::seconds kRetryCut{1};

std::int64_t UnixMillis() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

bool Chief::CutDue(Time now) const {
  if (cut_ || final_cut_ || !core_.AllActive()) return false;
  if (cut_failures_ > 0 && now - last_cut_ < kRetryCut) return false;
  const std::uint64_t tokens = core_.Progress().tokens_committed;
  if (core_.AllCommitted() || core_.CutWanted()) return true;
  if (stopped_loss_ && cuts_placed_ == 0) return true;  // the restored state, to be evaluated
  if (core_.Drained()) return tokens != tokens_at_cut_ || !newest_cut_;
  const Checkpoint& checkpoint = context_.training().checkpoint();
  if (checkpoint.every_steps() > 0 &&
      tokens >= tokens_at_cut_ + static_cast<std::uint64_t>(checkpoint.every_steps())) {
    return true;
  }
  return checkpoint.every_seconds() > 0 && tokens != tokens_at_cut_ &&
         now - last_cut_ >= std::chrono::seconds(checkpoint.every_seconds());
}

void Chief::StartCut(Time now) {
  std::optional<CutPlan> plan = core_.StartCut();
  if (!plan) return;
  last_cut_ = now;
  const CutId id{setup_.directory.chief_epoch(), next_cut_++};
  const Result<std::string> folder = CreateCutDirectory(setup_.run.run_directory(), id);
  cut_ = CutInProgress{.id = id,
                       .plan = std::move(*plan),
                       .pieces = {},
                       .pending = 0,
                       .tokens = core_.Progress().tokens_committed,
                       .status = folder.status(),
                       .base = {},
                       .bytes = 0};
  if (!folder.ok()) return;
  for (const CutPlan::Ps& ps : cut_->plan.ps) {
    const auto peer = ps_.find(ps.index);
    if (peer == ps_.end() || peer->second.link->incarnation() != ps.incarnation) {
      cut_->status = AbortedError("ps " + std::to_string(ps.index) + " is gone");
      continue;
    }
    WritePiecesRequest request;
    request.set_chief_epoch(setup_.directory.chief_epoch());
    request.set_incarnation(ps.incarnation);
    request.set_cut(CutName(id));
    request.set_close_epochs_below(cut_->plan.close_epochs_below);
    request.set_base(cut_->plan.base);
    for (const ReportedCopy& copy : ps.shards) {
      ShardAssignment* shard = request.add_shards();
      shard->set_shard(copy.shard);
      shard->mutable_term()->set_epoch(copy.term.epoch);
      shard->mutable_term()->set_counter(copy.term.counter);
    }
    ++cut_->pending;
    peer->second.link->Post([this, id, request = std::move(request)](ParameterServerClient& client,
                                                                     const std::stop_token&) {
      const Result<WritePiecesReply> reply = client.WritePieces(request);
      const std::lock_guard lock(mutex_);
      PiecesWritten(id, reply);
    });
  }
}

void Chief::PiecesWritten(const CutId& id, const Result<WritePiecesReply>& reply) {
  if (!cut_ || cut_->id != id) return;
  --cut_->pending;
  if (!reply.ok()) {
    cut_->status = reply.status();
  } else {
    cut_->pieces.insert(cut_->pieces.end(), reply->pieces().begin(), reply->pieces().end());
    if (cut_->pending > 0) context_.fail_points.Pass(FailPoint::kChiefBetweenPieces);
  }
  changed_.notify_all();
}

Status Chief::PlaceManifest() {
  CutManifest manifest;
  manifest.set_run_id(context_.run_id);
  manifest.set_chief_epoch(cut_->id.epoch);
  manifest.set_number(cut_->id.number);
  manifest.set_shards(setup_.run.shards());
  manifest.set_batches_per_epoch(setup_.run.batches_per_epoch());
  *manifest.mutable_variables() = setup_.run.variables();
  manifest.set_created_unix_ms(UnixMillis());
  const CoreProgress progress = core_.Progress();
  manifest.set_examples_committed(progress.examples_committed);
  manifest.set_examples_expected(progress.examples_expected);
  manifest.set_final(cut_->plan.final);
  manifest.set_epochs(static_cast<std::uint32_t>(context_.training().epochs()));
  std::sort(cut_->pieces.begin(), cut_->pieces.end(),
            [](const CutPiece& a, const CutPiece& b) { return a.shard() < b.shard(); });
  std::vector<WrittenPiece> written;
  for (const CutPiece& piece : cut_->pieces) {
    *manifest.add_pieces() = piece;
    if (piece.incremental()) manifest.set_base(cut_->plan.base);
    written.push_back({piece.shard(),
                       {piece.term_epoch(), piece.term_counter()},
                       piece.incremental(),
                       piece.bytes()});
  }
  const std::string folder = CutDirectory(setup_.run.run_directory(), cut_->id);
  const auto last_check = [&]() -> Status {
    PSTRAIN_RETURN_IF_ERROR(CheckChiefEpoch(setup_.run.run_directory(), cut_->id.epoch));
    PSTRAIN_RETURN_IF_ERROR(core_.FinishCut(written));
    context_.fail_points.Pass(FailPoint::kChiefBeforeRename);
    return OkStatus();
  };
  PSTRAIN_RETURN_IF_ERROR(WriteManifest(folder, manifest, last_check));
  context_.fail_points.Pass(FailPoint::kChiefAfterRename);
  NoteCounts(manifest);
  for (const CutPiece& piece : manifest.pieces()) cut_->bytes += piece.bytes();
  cut_->base = manifest.base();
  if (manifest.final()) final_cut_ = std::move(manifest);
  return OkStatus();
}

void Chief::FinishCut(Time now) {
  if (!cut_ || cut_->pending > 0) return;
  Status status = cut_->status;
  if (status.ok()) status = PlaceManifest();
  if (!status.ok()) {
    core_.CutFailed();
    stats_.cuts_abandoned->Add();
    LogWarning("chief", "a cut was abandoned", {{"cut", CutName(cut_->id)}, {"reason", status}});
    const bool term_changed = status.code() == StatusCode::kAborted ||
                              status.code() == StatusCode::kUnavailable ||
                              status.code() == StatusCode::kCancelled;
    if (!term_changed) {
      ++cut_failures_;
      cut_error_ = status;
    }
    const Status removed = RemoveCut(setup_.run.run_directory(), cut_->id);
    if (!removed.ok()) LogWarning("chief", "abandoned cut stays", {{"error", removed}});
    cut_.reset();
    Dispatch();
    return;
  }
  cut_failures_ = 0;
  newest_cut_ = cut_->id;
  tokens_at_cut_ = cut_->tokens;
  if (final_cut_) final_since_ = now;
  ++cuts_placed_;
  stats_.cuts->Add();
  core_.CutPlaced(CutName(cut_->id));
  LogInfo("chief", "cut in place",
          {{"cut", CutName(cut_->id)},
           {"base", cut_->base},
           {"bytes", cut_->bytes},
           {"seconds", std::chrono::duration<double>(now - last_cut_).count()},
           {"final", cut_->plan.final}});
  cut_.reset();
  RetentionRule rule;
  rule.keep = static_cast<std::uint32_t>(context_.training().checkpoint().keep());
  rule.chief_epoch = setup_.directory.chief_epoch();
  if (pinned_) rule.pinned.insert(*pinned_);
  // A new chief deletes nothing until the evaluator has said what it reads, or is late.
  const bool evaluator_known = !HasEvaluator() || pinned_ || evaluation_.cut ||
                               now - evaluator_seen_ > std::chrono::seconds(60);
  if (evaluator_known) {
    const Result<std::vector<CutId>> removed = ApplyRetention(setup_.run.run_directory(), rule);
    if (removed.ok()) {
      for (const CutId& id : *removed) core_.CutRemoved(CutName(id));
    } else {
      LogWarning("chief", "old cuts stay", {{"error", removed.status()}});
    }
  }
  Dispatch();
}

}  // namespace pstrain
