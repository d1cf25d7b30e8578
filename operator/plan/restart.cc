#include <algorithm>
#include <chrono>

#include "operator/plan/policies.h"
#include "proto/contract/exit_codes.h"

namespace pstrain::plan {
namespace {

using std::chrono::seconds;

constexpr seconds kHealthyStretch{600};
constexpr seconds kLongestWait{300};

enum class End { kSuccess, kCrash, kDisruption, kStopped };

bool IsDisruption(const Replica& replica) {
  return replica.disruption != Disruption::kNone || replica.terminating ||
         IsDisruptionExit(replica.exit_code);
}

/// True when the job itself has no further use for the place.
bool IsUnwanted(const Draft& draft, const ReplicaId& id) {
  if (draft.spec().run_policy().suspend()) return true;
  if (id.index >= DesiredReplicas(draft.spec(), id.role)) return true;
  return draft.ChiefSucceeded() && id.role != Role::kEvaluator;
}

/// REQUIRES: the replica has ended or is terminating.
End Classify(const Draft& draft, const Replica& replica) {
  if (replica.phase == ReplicaPhase::kSucceeded) return End::kSuccess;
  if (draft.ChiefSucceeded() && replica.id.role != Role::kEvaluator) return End::kStopped;
  if (!IsDisruption(replica)) return End::kCrash;
  return IsUnwanted(draft, replica.id) ? End::kStopped : End::kDisruption;
}

std::int64_t CeilSeconds(Time time) {
  return std::chrono::ceil<seconds>(time).time_since_epoch().count();
}

void CountCrash(Draft& draft, const Replica& replica, ReplicaRestarts& record) {
  const Time ended = std::min(replica.ended.value_or(draft.now()), draft.now());
  const bool was_healthy = replica.started && ended - *replica.started >= kHealthyStretch;
  record.set_consecutive_failures(was_healthy ? 1 : record.consecutive_failures() + 1);
  record.set_failures(record.failures() + 1);
  record.set_last_end_seconds(CeilSeconds(ended));
  Restarts& restarts = *draft.status().mutable_restarts();
  restarts.set_failures(restarts.failures() + 1);
}

void CountEnd(Draft& draft, const Replica& replica) {
  ReplicaRestarts& record = draft.Record(replica.id);
  switch (Classify(draft, replica)) {
    case End::kSuccess:
      record.set_succeeded(true);
      break;
    case End::kCrash:
      CountCrash(draft, replica, record);
      break;
    case End::kDisruption: {
      record.set_disruptions(record.disruptions() + 1);
      Restarts& restarts = *draft.status().mutable_restarts();
      restarts.set_disruptions(restarts.disruptions() + 1);
      break;
    }
    case End::kStopped:
      break;
  }
  record.set_attempt(replica.attempt + 1);
}

/// An attempt on its way out counts as ended at once when its successor need not wait for it.
bool CountsNow(const Draft& draft, const Replica& replica) {
  if (replica.Ended()) return true;
  return replica.terminating && !IsUnwanted(draft, replica.id) &&
         !ReplacesAfterTermination(draft.spec(), replica.id.role);
}

}  // namespace

Time NextStart(const ReplicaRestarts& record) {
  const std::int32_t failures = record.consecutive_failures();
  if (failures <= 1) return Time();
  const std::int32_t doublings = std::min(failures - 2, 16);
  const seconds wait = std::min(seconds(std::int64_t{1} << doublings), kLongestWait);
  return Time(seconds(record.last_end_seconds())) + wait;
}

void CountEnds(Draft& draft) {
  for (const auto& [id, attempts] : draft.places()) {
    for (const Replica* replica : attempts) {
      const std::int32_t next = draft.FindRecord(id).attempt();
      if (replica->attempt < next) continue;
      if (CountsNow(draft, *replica)) {
        CountEnd(draft, *replica);
      } else if (replica->attempt > next) {
        draft.Record(id).set_attempt(replica->attempt);
      }
    }
  }
}

}  // namespace pstrain::plan
