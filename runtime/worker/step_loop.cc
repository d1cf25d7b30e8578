#include "runtime/worker/step_loop.h"

#include <utility>
#include <vector>

#include "base/log.h"

namespace pstrain {
namespace {

/// How long to wait for news of the chief before a request is made again.
constexpr std::chrono::milliseconds kAskAgain{100};

/// Worth trying again under a newer membership.
bool Passing(const Status& status) {
  return status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kAborted ||
         status.code() == StatusCode::kDeadlineExceeded;
}

class PhaseTimer {
 public:
  /// Adds the time since construction or the last call to `phase`.
  void Charge(SecondsCounter* phase) {
    const auto now = std::chrono::steady_clock::now();
    phase->Add(std::chrono::duration_cast<std::chrono::nanoseconds>(now - since_));
    since_ = now;
  }

 private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

}  // namespace

StepLoop::StepLoop(const RoleContext& context, GrantSession& session, BatchPrefetcher& batches,
                   PsClient& ps, const Model& model, const InputIndex& index)
    : context_(context),
      session_(session),
      batches_(batches),
      ps_(ps),
      model_(model),
      index_(index),
      stats_(context.stats),
      common_stats_(context.stats) {}

Status StepLoop::Run() {
  common_stats_.ready->Set(1);
  while (true) {
    PhaseTimer timer;
    PSTRAIN_ASSIGN_OR_RETURN(const std::optional<PreparedBatch> prepared, batches_.Next());
    timer.Charge(stats_.input_seconds);
    if (!prepared) return OkStatus();
    PSTRAIN_ASSIGN_OR_RETURN(const bool done, Step(*prepared));
    PublishTraffic();
    if (!done) return OkStatus();
  }
}

Result<bool> StepLoop::Step(const PreparedBatch& prepared) {
  PhaseTimer timer;
  Parameters values;
  PSTRAIN_ASSIGN_OR_RETURN(const bool pulled, Pull(prepared, &values));
  timer.Charge(stats_.pull_seconds);
  if (!pulled) return false;
  Parameters gradients;
  const StepResult result = model_.Step(prepared.batch, prepared.plan, values, &gradients);
  timer.Charge(stats_.compute_seconds);
  Report report;
  *report.mutable_token() = prepared.grant.token();
  report.set_loss(result.loss);
  PSTRAIN_ASSIGN_OR_RETURN(const bool pushed, Push(prepared, gradients, &report));
  timer.Charge(stats_.push_seconds);
  if (!pushed) return false;
  session_.Complete(std::move(report));
  stats_.commits_reported->Add();
  stats_.steps->Add();
  stats_.examples->Add(result.records);
  stats_.records_skipped->Add(prepared.batch.skipped);
  stats_.loss->Set(result.loss);
  return true;
}

bool StepLoop::WaitForChange(std::uint64_t number) {
  stats_.retries->Add();
  session_.WaitForMembership(number, kAskAgain);
  return session_.end() == SessionEnd::kNone && !context_.stop.stop_requested();
}

Result<bool> StepLoop::Pull(const PreparedBatch& prepared, Parameters* values) {
  while (true) {
    const std::shared_ptr<const Membership> membership = session_.membership();
    Result<Parameters> pulled = ps_.Pull(prepared.plan, *membership);
    if (pulled.ok()) {
      *values = std::move(pulled).value();
      return true;
    }
    if (!Passing(pulled.status())) return pulled.status().WithContext("pull");
    // A batch that was only granted may be given back when this process is to stop.
    if (!WaitForChange(membership->number())) return false;
  }
}

Result<bool> StepLoop::Push(const PreparedBatch& prepared, const Parameters& gradients,
                            Report* report) {
  const Token token{prepared.grant.token().epoch(), prepared.grant.token().batch()};
  const PushedBatch batch{token, index_.RecordCount(token), prepared.batch.skipped};
  std::vector<ShardId> wanted(prepared.grant.shards().begin(), prepared.grant.shards().end());
  while (true) {
    const std::shared_ptr<const Membership> membership = session_.membership();
    Result<PushOutcome> pushed = ps_.Push(batch, prepared.plan, gradients, *membership, wanted);
    if (!pushed.ok()) return pushed.status().WithContext("push");
    for (const ShardPush& shard : pushed->shards) {
      if (shard.outcome != ShardOutcome::kApplied && shard.outcome != ShardOutcome::kDuplicate) {
        continue;
      }
      ReportedShard* reported = report->add_shards();
      reported->set_shard(shard.shard);
      reported->mutable_term()->set_epoch(shard.term.epoch);
      reported->mutable_term()->set_counter(shard.term.counter);
    }
    wanted = pushed->Missing();
    if (wanted.empty()) return true;
    // What some shards have and others lack is no loss: the chief grants it again, they refuse it.
    if (!WaitForChange(membership->number())) return false;
  }
}

void StepLoop::PublishTraffic() {
  const PsClientStats& now = ps_.stats();
  const auto raise = [](Counter* counter, std::uint64_t value) {
    counter->Add(value - counter->Value());
  };
  raise(stats_.bytes_sent, now.bytes_sent);
  raise(stats_.bytes_received, now.bytes_received);
  raise(stats_.rows_pulled, now.rows_pulled);
  raise(stats_.rows_pushed, now.rows_pushed);
}

}  // namespace pstrain
