#include "runtime/worker/granted_calls.h"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "base/log.h"
#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/control_shards.h"

namespace pstrain {
namespace {

/// How long to wait for news of the chief before a request is made again.
constexpr std::chrono::milliseconds kAskAgain{100};

/// Worth trying again under a newer membership.
bool Passing(const Status& status) {
  return status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kAborted ||
         status.code() == StatusCode::kDeadlineExceeded;
}

GrantContext ContextOf(const Grant& grant) { return {grant.chief_term(), FromWire(grant.after())}; }

/// By which the chief knows what the report is of.
void NameWork(const Grant& grant, Report* report) {
  *report->mutable_work_id() = grant.work_id();
  report->set_chief_term(grant.chief_term());
}

}  // namespace

// Rule 2, the pull before a push: the values are those of the shards' owners in the membership that
// is known. Invariant: work of a program reads nothing of a shard that lacks what it waits for, or
// that another chief has (rule 3); such work is given back.
Result<GrantedCalls::Ending> GrantedCalls::Pull(const Grant& grant, const RoutedPlan& plan,
                                                PullOutcome* pulled) {
  while (true) {
    const std::shared_ptr<const Membership> membership = session_.membership();
    Result<PullOutcome> outcome = ps_.Pull(plan, *membership, ContextOf(grant));
    if (outcome.ok() && outcome->answer == PullAnswer::kValues) {
      *pulled = std::move(outcome).value();
      return Ending::kDone;
    }
    if (outcome.ok() && outcome->answer == PullAnswer::kEarly) {
      return GiveBackEarly(grant, *membership, {}, {&outcome->shard, 1}, {});
    }
    if (outcome.ok()) {
      const Grant* const refused = &grant;
      return GiveBackOfAnotherChief({&refused, 1}, membership->number());
    }
    if (!Passing(outcome.status())) return outcome.status().WithContext("pull");
    // What was only granted may be given back when this process is to stop.
    if (!WaitForChange(membership->number())) return Ending::kGivenUp;
  }
}

// Rules 2 and 4: pushes to each shard that is wanted until each has answered, under whichever
// membership. What some shards have and others lack when this is given up is no loss: the chief
// grants it again, and they refuse it.
Result<GrantedCalls::Ending> GrantedCalls::Push(const Grant& grant, const PushedWork& pushed,
                                                const RoutedPlan& plan, const StepUpdates& updates,
                                                PushProgress* progress, Report* report) {
  PushedWork sent = pushed;
  const WorkOfGrant work{grant, sent, plan, updates, *progress, *report};
  while (true) {
    PSTRAIN_ASSIGN_OR_RETURN(const Round round, PushOnce({&work, 1}));
    if (round.ended.front()) return *round.ended.front();
    if (!WaitForChange(round.membership)) return Ending::kGivenUp;
  }
}

Result<GrantedCalls::Round> GrantedCalls::PushOnce(std::span<const WorkOfGrant> works) {
  const std::shared_ptr<const Membership> membership = session_.membership();
  std::vector<WorkToPush> pushes;
  pushes.reserve(works.size());
  for (const WorkOfGrant& work : works) {
    work.pushed.grant = ContextOf(work.grant);
    pushes.push_back({work.pushed, work.plan, work.updates, work.progress.wanted()});
  }
  const Result<std::vector<PushOutcome>> outcomes = ps_.Push(pushes, *membership);
  if (!outcomes.ok()) return outcomes.status().WithContext("push");
  Round round{.ended = {}, .membership = membership->number()};
  round.ended.reserve(works.size());
  for (std::size_t i = 0; i < works.size(); ++i) {
    round.ended.push_back(After(works[i], (*outcomes)[i], *membership));
  }
  std::vector<const Grant*> refused;
  // Early ones have ended.
  const auto of_another_chief = [&](std::size_t i) {
    return !round.ended[i] && works[i].progress.refused();
  };
  for (std::size_t i = 0; i < works.size(); ++i) {
    if (of_another_chief(i)) refused.push_back(&works[i].grant);
  }
  if (refused.empty()) return round;
  const Ending ending = GiveBackOfAnotherChief(refused, round.membership);
  for (std::size_t i = 0; i < works.size(); ++i) {
    if (of_another_chief(i)) round.ended[i] = ending;
  }
  return round;
}

// Rule 4. Invariant: the report names only shards that have said that they have the work, each in
// the term in which it said so.
std::optional<GrantedCalls::Ending> GrantedCalls::After(const WorkOfGrant& work,
                                                        const PushOutcome& outcome,
                                                        const Membership& membership) {
  PushProgress& progress = work.progress;
  progress.Add(outcome);
  if (progress.has_gradient()) return Ending::kHasGradient;
  if (!progress.early().empty()) {
    return GiveBackEarly(work.grant, membership, progress.have(), progress.early(), work.report);
  }
  if (!progress.done()) return std::nullopt;
  NameWork(work.grant, &work.report);
  SetShards(membership, progress.have(), {}, &work.report);
  return Ending::kDone;
}

// Rule 4: a shard that is early knows better than the chief what it has: the report says so, and
// the chief grants the work again once the shard has the rest. Invariant: what is said of shards
// that have it is said with what the attempt came to, since the next one is told that they do.
GrantedCalls::Ending GrantedCalls::GiveBackEarly(const Grant& grant, const Membership& membership,
                                                 std::span<const ShardInTerm> have,
                                                 std::span<const ShardInTerm> early,
                                                 Report report) {
  LogWarning("worker", "work is given back: a shard lacks what it waits for",
             {{"work", NameOf(grant)}});
  NameWork(grant, &report);
  SetShards(membership, have, early, &report);
  session_.Complete(std::move(report));
  return Ending::kGivenBack;
}

// Rule 4. Invariant: a report that names no shard commits nothing, whatever shards have of other
// attempts.
void GrantedCalls::GiveBackFailed(const Grant& grant, Report report) {
  LogWarning("worker", "work is given back: it has failed, and shards may have what it changes",
             {{"work", NameOf(grant)}, {"error", report.error().message()}});
  NameWork(grant, &report);
  SetShards(*session_.membership(), {}, {}, &report);
  session_.Complete(std::move(report));
}

// Rule 4. Invariant: the report says nothing of a shard.
void GrantedCalls::ReportReadOnly(const Grant& grant, Report report) {
  NameWork(grant, &report);
  SetShards(*session_.membership(), {}, {}, &report);
  session_.Complete(std::move(report));
}

// Rules 4 and 6. Invariant: the report names no shard, and nothing is pushed of that attempt after
// it.
void GrantedCalls::GiveBackMissed(const Grant& grant) {
  LogWarning("worker", "an attempt is given up: its function has not returned in time",
             {{"work", NameOf(grant)}});
  Report report;
  report.set_missed(true);
  NameWork(grant, &report);
  SetShards(*session_.membership(), {}, {}, &report);
  session_.Complete(std::move(report));
}

// Rule 6: what a shard of another chief refuses is given back without a report. That shard has
// heard of the new chief first: the next poll says what became of the grant. Until then the chief
// that granted it may do so again, which is why this waits.
GrantedCalls::Ending GrantedCalls::GiveBackOfAnotherChief(std::span<const Grant* const> grants,
                                                          std::uint64_t membership) {
  LogWarning("worker", "work is given back: a shard belongs to another chief",
             {{"work", NameOf(*grants.front())}, {"works", grants.size()}});
  if (!WaitForChange(membership)) return Ending::kGivenUp;
  for (const Grant* const grant : grants) session_.GiveBack(*grant);
  return Ending::kGivenBack;
}

std::string GrantedCalls::NameOf(const Grant& grant) const {
  const WorkId work_id = FromWire(grant.work_id());
  if (grant.kind() == kBatchWork) {
    return "epoch " + std::to_string(work_id.epoch) + ", batch " + std::to_string(work_id.batch);
  }
  const std::uint64_t chunk_size = session_.run()->batches_per_epoch();
  if (IsReadOnlyAttempt(work_id)) return NameOfReadOnly(work_id, chunk_size);
  return "closure " + std::to_string(work_id.epoch * chunk_size + work_id.batch);
}

// Rule 7: a ps that does not answer may be lost, and its shards get another owner; the same request
// counts once under any of them (rule 3), so it is made again.
bool GrantedCalls::WaitForChange(std::uint64_t number) {
  stats_.retries->Add();
  session_.WaitForMembership(number, kAskAgain);
  return !abandoned_ && session_.end() == SessionEnd::kNone && !context_.stop.stop_requested();
}

}  // namespace pstrain
