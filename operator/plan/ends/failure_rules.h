#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "operator/plan/snapshot.h"

namespace pstrain::plan {

/// What failurePolicy and backoffLimitPerReplica of a role say of an end. Pure; any thread.

/// The rule that decides about an end.
struct Ruling {
  FailureRule::Action action = FailureRule::Count;
  /// Its place in failurePolicy.rules of the role.
  std::int32_t rule = 0;
};

/// The first rule that holds of this end. `crash`: without a rule it would count as one; exit codes
/// are looked at of crashes alone, because that of a pod that was killed says nothing of its
/// program. Nothing of exit code 87, whose meaning is fixed.
std::optional<Ruling> RulingOf(const JobSpec& spec, const Replica& ended, bool crash);

/// The crash counts against backoffLimit and backoffLimitPerReplica.
bool CountsAgainstLimits(const std::optional<Ruling>& ruling);

/// More crashes than backoffLimitPerReplica of the role.
bool ExceedsOwnLimit(const JobSpec& spec, Role role, const ReplicaRestarts& record);

/// A job goes on without a worker or an evaluator, but not without its chief or one of its ps.
bool MayBeGivenUp(Role role);

/// "rule 0 of its failurePolicy: Ignore".
std::string DescribeRuling(const Ruling& ruling);

}  // namespace pstrain::plan
