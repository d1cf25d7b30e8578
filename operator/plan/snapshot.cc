#include "operator/plan/snapshot.h"

#include <string_view>

#include "base/text/last_line.h"
#include "base/text/utf8.h"
#include "operator/plan/timestamp.h"
#include "proto/contract/exit_codes.h"

namespace pstrain::plan {
namespace {

constexpr std::size_t kLongestMessage = 256;

/// What the executor gives no reason for.
std::string_view DefaultReason(const Replica& replica) {
  if (!replica.Ended()) return "Deleted";
  if (replica.oom) return "OOMKilled";
  return replica.signal != 0 ? "Signaled" : "Error";
}

}  // namespace

std::string ReplicaKey(const ReplicaId& id) {
  return std::string(RoleName(id.role)) + "-" + std::to_string(id.index);
}

bool ReplacesAfterTermination(const JobSpec& spec, Role role) {
  const ReplicaSpec* replica_spec = FindReplicaSpec(spec, role);
  if (replica_spec == nullptr || replica_spec->replacement() == REPLACEMENT_UNSPECIFIED) {
    return !UsesRuntime(spec);
  }
  return replica_spec->replacement() == AfterTermination;
}

RestartPolicy RestartPolicyOf(const JobSpec& spec, Role role) {
  const ReplicaSpec* replica_spec = FindReplicaSpec(spec, role);
  return replica_spec == nullptr ? RestartPolicy::OnFailure : replica_spec->restart_policy();
}

bool StartsAlways(const JobSpec& spec, Role role) {
  return RestartPolicyOf(spec, role) == RestartPolicy::Always;
}

bool IgnoresFailures(const JobSpec& spec, Role role) {
  return role == Role::kEvaluator && spec.run_policy().evaluator_failures() == RunPolicy::Ignore;
}

RunPolicy::CleanPodPolicy CleanPodPolicyOf(const JobSpec& spec, Role role) {
  const ReplicaSpec* replica_spec = FindReplicaSpec(spec, role);
  const bool own = replica_spec != nullptr &&
                   replica_spec->clean_pod_policy() != RunPolicy::CLEAN_POD_POLICY_UNSPECIFIED;
  return own ? replica_spec->clean_pod_policy() : spec.run_policy().clean_pod_policy();
}

bool FailsForGood(const JobSpec& spec, const Replica& crash) {
  if (crash.exit_code == kExitPermanent) return true;
  const RestartPolicy policy = RestartPolicyOf(spec, crash.id.role);
  return policy == RestartPolicy::Never ||
         (policy == RestartPolicy::ExitCode && IsPermanentExit(crash.exit_code));
}

std::string ReasonOf(const Replica& replica) {
  return replica.reason.empty() ? std::string(DefaultReason(replica)) : replica.reason;
}

AttemptEnd MakeAttemptEnd(const Replica& replica, Time when) {
  AttemptEnd end;
  end.set_reason(ReasonOf(replica));
  end.set_exit_code(replica.exit_code);
  end.set_signal(replica.signal);
  end.set_oom(replica.oom);
  end.set_node(replica.node);
  end.set_time(FormatTimestamp(when));
  // The end of a long text says more than its beginning.
  const std::string_view words = replica.message.size() <= kLongestMessage
                                     ? std::string_view(replica.message)
                                     : LastLine(replica.message);
  end.set_message(std::string(Utf8Prefix(words, kLongestMessage)));
  return end;
}

std::string DescribeAttemptEnd(const ReplicaId& id, const AttemptEnd& end) {
  std::string text = ReplicaKey(id);
  if (!end.node().empty()) text += " on node " + end.node();
  text += ": " + end.reason();
  if (end.exit_code() != 0) text += ", exit code " + std::to_string(end.exit_code());
  const std::string_view line = LastLine(end.message());
  if (!line.empty()) text.append(": ").append(line);
  return text;
}

}  // namespace pstrain::plan
