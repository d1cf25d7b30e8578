#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <vector>

#include "operator/plan/ends/failure_rules.h"
#include "operator/plan/policies.h"
#include "proto/contract/exit_codes.h"

namespace pstrain::plan {
namespace {

using std::chrono::seconds;

constexpr seconds kHealthyStretch{600};
constexpr seconds kLongestWait{300};
/// An attempt that lived shorter, and that no failure is counted for, delays the next one.
constexpr seconds kShortLife{10};
/// One that lived so long ends the series of short ones. Were it kShortLife too, an attempt of 10 s
/// after each short one would begin the series again, and a replica be made more than ten times a
/// minute for ever.
constexpr seconds kLastingLife{60};
/// Peers that exit 85 within this time after the chief has drained count as drained too: it waits
/// 5 s for them to ask (runtime/chief/ending.h), then they finish what is in flight.
constexpr seconds kPeersFollowChief{60};
/// So many exits 85 in a row are believed without a cause; docs/design/drained-by-whom.md.
constexpr std::int32_t kBelievedDrains = 3;

enum class End { kSuccess, kCompletion, kCrash, kDisruption, kBelievedDrain, kStopped };

/// The platform or a person told it to stop, as far as the executor sees.
bool WasToldToStop(const Replica& replica) {
  return replica.disruption != Disruption::kNone || replica.terminating;
}

bool IsDisruption(const Replica& replica) {
  return WasToldToStop(replica) || IsDisruptionExit(replica.exit_code);
}

/// Not before it was asked for and not after now: the clock of its node may be wrong, and waits
/// count from here.
Time EndOf(const PlanBuilder& builder, const Replica& replica) {
  const Time ended = std::min(replica.ended.value_or(builder.now()), builder.now());
  return std::max(ended, std::min(replica.created.value_or(ended), builder.now()));
}

/// 0 for what never ran. Both times are of its node's clock where both are known; it is no older
/// than the platform says.
Time::duration LifeOf(const PlanBuilder& builder, const Replica& replica) {
  if (!replica.started || replica.disruption == Disruption::kNotAdmitted) return {};
  const Time::duration life = replica.ended.value_or(builder.now()) - *replica.started;
  const Time::duration age =
      replica.created ? builder.now() - *replica.created : Time::duration::max();
  return std::clamp(life, Time::duration(), std::max(age, Time::duration()));
}

/// True when the chief may have told this peer to drain: the chief is being stopped, or it has
/// drained while the peer ran and the peer ended soon enough.
bool FollowsChief(const PlanBuilder& builder, const Replica& peer) {
  const ReplicaId chief{Role::kChief, 0};
  if (peer.id == chief) return false;
  // An older attempt that still stops, on a node that is lost perhaps, has no peers any more.
  const std::vector<const Replica*>& chiefs = builder.Attempts(chief);
  if (!chiefs.empty() && !chiefs.back()->Ended() && WasToldToStop(*chiefs.back())) return true;
  const Time left{seconds(builder.FindRecord(chief).left_seconds())};
  if (left == Time()) return false;
  return peer.started.value_or(left) <= left && EndOf(builder, peer) <= left + kPeersFollowChief;
}

/// True when the job itself no longer needs the replica.
bool IsUnwanted(const PlanBuilder& builder, const ReplicaId& id) {
  if (builder.spec().run_policy().suspend()) return true;
  if (id.index >= DesiredReplicas(builder.spec(), id.role)) return true;
  return builder.WorkDone() && id.role != Role::kEvaluator;
}

/// It says that it was told to stop, and nobody is seen who told it.
bool DrainedUntold(const PlanBuilder& builder, const Replica& replica) {
  if (replica.exit_code != kExitDrained) return false;
  return !WasToldToStop(replica) && !FollowsChief(builder, replica);
}

/// REQUIRES: the replica has ended or is terminating.
End Classify(const PlanBuilder& builder, const Replica& replica) {
  if (replica.phase == ReplicaPhase::kSucceeded) {
    if (!StartsAlways(builder.spec(), replica.id.role)) return End::kSuccess;
    return IsUnwanted(builder, replica.id) ? End::kStopped : End::kCompletion;
  }
  if (builder.WorkDone() && replica.id.role != Role::kEvaluator) return End::kStopped;
  if (!IsDisruption(replica)) return End::kCrash;
  if (IsUnwanted(builder, replica.id)) return End::kStopped;
  if (!DrainedUntold(builder, replica)) return End::kDisruption;
  const bool believed = replica.id.role != Role::kChief &&
                        builder.FindRecord(replica.id).unexplained_drains() < kBelievedDrains;
  return believed ? End::kBelievedDrain : End::kCrash;
}

std::int64_t CeilSeconds(Time time) {
  return std::chrono::ceil<seconds>(time).time_since_epoch().count();
}

/// 1, 2, 4 ... 300 s for the first, second, third ... in a row.
seconds Backoff(std::int32_t in_a_row) {
  const std::int32_t doublings = std::min(in_a_row - 1, 16);
  return std::min(seconds(std::int64_t{1} << doublings), kLongestWait);
}

/// Attempts in a row that did not last, of either kind: each kind has its own count, and a replica
/// that alternates between them must not wait half as often for it.
std::int32_t InARow(const ReplicaRestarts& record) {
  return record.short_attempts() + record.consecutive_failures();
}

/// `counts`: against the limits.
void CountCrash(PlanBuilder& builder, const Replica& replica, bool counts,
                ReplicaRestarts& record) {
  const Time ended = EndOf(builder, replica);
  const bool was_healthy = LifeOf(builder, replica) >= kHealthyStretch;
  record.set_consecutive_failures(was_healthy ? 1 : record.consecutive_failures() + 1);
  record.set_failures(record.failures() + 1);
  record.set_last_end_seconds(CeilSeconds(ended));
  if (IgnoresFailures(builder.spec(), replica.id.role)) {
    record.set_given_up(builder.WorkDone() || FailsForGood(builder.spec(), replica));
    return;
  }
  if (!counts) {
    record.set_ignored_failures(record.ignored_failures() + 1);
    return;
  }
  Restarts& restarts = *builder.status().mutable_restarts();
  restarts.set_failures(restarts.failures() + 1);
}

/// An attempt that did not crash and did not last delays the next one.
void NoteShortLife(const PlanBuilder& builder, const Replica& replica, ReplicaRestarts& record) {
  if (LifeOf(builder, replica) >= kShortLife) return;
  record.set_short_attempts(record.short_attempts() + 1);
  const Time due = EndOf(builder, replica) + Backoff(InARow(record));
  record.set_not_before_seconds(CeilSeconds(due));
}

void CountDisruption(PlanBuilder& builder, const Replica& replica, ReplicaRestarts& record) {
  record.set_disruptions(record.disruptions() + 1);
  Restarts& restarts = *builder.status().mutable_restarts();
  restarts.set_disruptions(restarts.disruptions() + 1);
  NoteShortLife(builder, replica, record);
}

/// What was held against earlier attempts, and this one has disproved by living. A program that
/// leaves of its own accord after each healthy stretch disproves nothing by it.
void ForgetWhatALongLifeEnds(const PlanBuilder& builder, const Replica& replica,
                             ReplicaRestarts& record) {
  const Time::duration life = LifeOf(builder, replica);
  if (life >= kHealthyStretch && !DrainedUntold(builder, replica)) {
    record.clear_unexplained_drains();
  }
  if (life >= kLastingLife) record.clear_short_attempts();
  if (life >= kShortLife) record.clear_not_before_seconds();
}

/// A chief that drained or was stopped tells its peers to drain; one that was superseded does not.
bool DrainsPeers(const Replica& chief) {
  return WasToldToStop(chief) || chief.exit_code == kExitDrained;
}

/// Remembers when a chief drained or was stopped: its pod may be gone before the end of a peer
/// shows.
void NoteLeft(const Replica& replica, Time when, PlanBuilder& builder) {
  if (replica.id.role != Role::kChief || !DrainsPeers(replica)) return;
  ReplicaRestarts& record = builder.Record(replica.id);
  record.set_left_seconds(std::max(record.left_seconds(), CeilSeconds(when)));
}

RestartCause CauseOf(const Replica& replica, bool failure) {
  if (failure) return replica.oom ? RestartCause::kOomKilled : RestartCause::kCrashed;
  switch (replica.disruption) {
    case Disruption::kPreempted:
      return RestartCause::kPreempted;
    case Disruption::kTainted:
      return RestartCause::kTainted;
    case Disruption::kEvicted:
      return RestartCause::kEvicted;
    case Disruption::kNodePressure:
      return RestartCause::kNodePressure;
    case Disruption::kNodeLost:
      return RestartCause::kNodeLost;
    case Disruption::kNotAdmitted:
      return RestartCause::kNotAdmitted;
    case Disruption::kNone:
      break;
  }
  if (replica.node_lost) return RestartCause::kNodeLost;
  if (replica.terminating) return RestartCause::kDeleted;
  return replica.exit_code == kExitDrained ? RestartCause::kDrained : RestartCause::kDisrupted;
}

/// An end that an event tells of: a crash or a disruption, or what a rule makes of it.
void CountTold(PlanBuilder& builder, const Replica& replica, End seen, ReplicaRestarts& record) {
  const JobSpec& spec = builder.spec();
  const std::optional<Ruling> ruling = RulingOf(spec, replica, seen == End::kCrash);
  const bool crash = seen == End::kCrash || (ruling && ruling->action == FailureRule::Count);
  const bool counts = CountsAgainstLimits(ruling) && !IgnoresFailures(spec, replica.id.role);
  if (crash) {
    CountCrash(builder, replica, counts, record);
  } else {
    if (seen == End::kBelievedDrain) {
      record.set_unexplained_drains(record.unexplained_drains() + 1);
    }
    CountDisruption(builder, replica, record);
  }
  const bool too_many = crash && counts && MayBeGivenUp(replica.id.role) &&
                        ExceedsOwnLimit(spec, replica.id.role, record);
  if (too_many || (ruling && ruling->action == FailureRule::FailReplica)) record.set_given_up(true);
  builder.NoteEnd({.id = replica.id,
                   .attempt = replica.attempt,
                   .failure = crash,
                   .counts = crash && counts,
                   .ruling = ruling,
                   .given_up = record.given_up(),
                   .cause = CauseOf(replica, seen == End::kCrash),
                   .end = MakeAttemptEnd(replica, EndOf(builder, replica))});
}

void CountEnd(PlanBuilder& builder, const Replica& replica) {
  NoteLeft(replica, EndOf(builder, replica), builder);
  ReplicaRestarts& record = builder.Record(replica.id);
  ForgetWhatALongLifeEnds(builder, replica, record);
  const End end = Classify(builder, replica);
  switch (end) {
    case End::kSuccess:
      record.set_succeeded(true);
      break;
    case End::kCompletion:
      record.set_completions(record.completions() + 1);
      NoteShortLife(builder, replica, record);
      break;
    case End::kCrash:
    case End::kBelievedDrain:
    case End::kDisruption:
      CountTold(builder, replica, end, record);
      break;
    case End::kStopped:
      break;
  }
  record.set_attempt(replica.attempt + 1);
}

/// A terminating attempt counts as ended immediately when its successor need not wait for it, and
/// one that is lost in any case: its end is never seen.
bool CountsNow(const PlanBuilder& builder, const Replica& replica) {
  if (replica.Ended() || IsLost(builder, replica)) return true;
  return replica.terminating && !IsUnwanted(builder, replica.id) &&
         !ReplacesAfterTermination(builder.spec(), replica.id.role);
}

/// Of a chief that was counted while it was still there, the end: its peers drain until then. Only
/// of an end whose time is true, as of an exit code that was seen.
void NoteChiefLeft(PlanBuilder& builder) {
  const ReplicaId chief{Role::kChief, 0};
  for (const Replica* attempt : builder.Attempts(chief)) {
    const bool seen = attempt->Ended() && attempt->exit_code == kExitDrained;
    if (seen && attempt->ended) NoteLeft(*attempt, *attempt->ended, builder);
  }
}

void CountEndsOf(PlanBuilder& builder, const ReplicaId& id,
                 const std::vector<const Replica*>& attempts) {
  for (const Replica* replica : attempts) {
    const std::int32_t next = builder.FindRecord(id).attempt();
    if (replica->attempt < next) continue;
    if (CountsNow(builder, *replica)) {
      CountEnd(builder, *replica);
    } else if (replica->attempt > next) {
      builder.Record(id).set_attempt(replica->attempt);
    }
  }
}

}  // namespace

std::string_view RestartCauseName(RestartCause cause) {
  constexpr std::array<std::string_view, kRestartCauses> kNames = {
      "crashed",   "oom_killed",   "preempted", "tainted", "evicted",  "node_pressure",
      "node_lost", "not_admitted", "deleted",   "drained", "disrupted"};
  return kNames[static_cast<std::size_t>(cause)];
}

Time NextStart(const ReplicaRestarts& record) {
  const Time not_before{seconds(record.not_before_seconds())};
  const std::int32_t earlier = InARow(record) - 1;
  if (record.consecutive_failures() == 0 || earlier <= 0) return not_before;
  return std::max(not_before, Time(seconds(record.last_end_seconds())) + Backoff(earlier));
}

// Those whose success ends the job first: what the others do when it is reached is no crash.
void CountEnds(PlanBuilder& builder) {
  NoteChiefLeft(builder);
  const bool chief_decides = builder.spec().success_policy() != JobSpec::AllWorkers &&
                             builder.spec().success_policy() != JobSpec::Worker0;
  const Role first = chief_decides ? Role::kChief : Role::kWorker;
  for (const bool others : {false, true}) {
    for (const auto& [id, attempts] : builder.attempts_by_replica()) {
      if ((id.role != first) == others) CountEndsOf(builder, id, attempts);
    }
  }
}

}  // namespace pstrain::plan
