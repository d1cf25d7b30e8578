#include "operator/plan/ends/failure_rules.h"

#include <algorithm>

#include "proto/contract/exit_codes.h"

namespace pstrain::plan {
namespace {

template <typename List, typename Value>
bool Contains(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// A code that nobody has seen, 0, is neither among others nor none of them. The meaning of 85 and
/// 86 is fixed.
bool Holds(const ExitCodes& codes, std::int32_t exit_code) {
  if (exit_code == kExitSuccess || IsDisruptionExit(exit_code)) return false;
  return Contains(codes.values(), exit_code) == (codes.operator_() == ExitCodes::In);
}

bool Holds(const PodConditionPattern& pattern, const Replica& ended) {
  return std::any_of(
      ended.conditions.begin(), ended.conditions.end(), [&pattern](const PodCondition& condition) {
        return condition.type == pattern.type() && condition.status == pattern.status();
      });
}

bool Holds(const FailureRule& rule, const Replica& ended, bool crash) {
  if (rule.has_on_exit_codes()) return crash && Holds(rule.on_exit_codes(), ended.exit_code);
  if (Contains(rule.on_reasons(), ReasonOf(ended))) return true;
  const auto& patterns = rule.on_pod_conditions();
  return std::any_of(
      patterns.begin(), patterns.end(),
      [&ended](const PodConditionPattern& pattern) { return Holds(pattern, ended); });
}

}  // namespace

std::optional<Ruling> RulingOf(const JobSpec& spec, const Replica& ended, bool crash) {
  const ReplicaSpec* replica_spec = FindReplicaSpec(spec, ended.id.role);
  if (replica_spec == nullptr || (crash && ended.exit_code == kExitPermanent)) return std::nullopt;
  const auto& rules = replica_spec->failure_policy().rules();
  for (int i = 0; i < rules.size(); ++i) {
    if (Holds(rules[i], ended, crash)) return Ruling{rules[i].action(), i};
  }
  return std::nullopt;
}

bool CountsAgainstLimits(const std::optional<Ruling>& ruling) {
  return !ruling ||
         (ruling->action != FailureRule::Ignore && ruling->action != FailureRule::FailReplica);
}

bool ExceedsOwnLimit(const JobSpec& spec, Role role, const ReplicaRestarts& record) {
  const ReplicaSpec* replica_spec = FindReplicaSpec(spec, role);
  return replica_spec != nullptr && replica_spec->has_backoff_limit_per_replica() &&
         record.failures() - record.ignored_failures() > replica_spec->backoff_limit_per_replica();
}

bool MayBeGivenUp(Role role) { return role == Role::kWorker || role == Role::kEvaluator; }

std::string DescribeRuling(const Ruling& ruling) {
  return "rule " + std::to_string(ruling.rule) +
         " of its failurePolicy: " + FailureRule::Action_Name(ruling.action);
}

}  // namespace pstrain::plan
