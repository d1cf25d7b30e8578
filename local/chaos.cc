#include "local/chaos.h"

#include <algorithm>
#include <csignal>

#include "base/text/parse_number.h"
#include "proto/contract/roles.h"

namespace pstrain::local {
namespace {

constexpr double kPercent = 100.0;

std::optional<KillKind> ParseKind(std::string_view text) {
  if (text == "kill") return KillKind::kKill;
  if (text == "term") return KillKind::kTerm;
  if (text == "agent") return KillKind::kAgent;
  return std::nullopt;
}

Status BadKill(std::string_view text, std::string_view reason, const JobSpec& spec) {
  return InvalidArgumentError("--chaos " + std::string(text) + ": " + std::string(reason) +
                              "; the form is ROLE[:INDEX]@" +
                              (spec.has_program() ? "CALLS" : "PERCENT") + "[:kill|term|agent]");
}

/// What comes after the @.
Status ParseMoment(std::string_view text, const JobSpec& spec, ChaosKill* kill) {
  if (spec.has_program()) {
    kill->calls = ParseNumber<std::int64_t>(text);
    if (kill->calls && *kill->calls >= 0) return OkStatus();
    return InvalidArgumentError(
        "with spec.program, whose end nobody knows, a number of calls comes after the @");
  }
  const std::optional<double> percent = ParseNumber<double>(text);
  if (!percent || *percent < 0 || *percent >= kPercent) {
    return InvalidArgumentError("PERCENT must be a number from 0 to less than 100");
  }
  kill->percent = *percent;
  return OkStatus();
}

Result<ChaosKill> ParseKill(std::string_view text, const JobSpec& spec) {
  ChaosKill kill;
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) {
    return BadKill(text, spec.has_program() ? "no @CALLS" : "no @PERCENT", spec);
  }
  std::string_view replica = text.substr(0, at);
  std::string_view when = text.substr(at + 1);
  if (const std::size_t colon = when.find(':'); colon != std::string_view::npos) {
    const auto kind = ParseKind(when.substr(colon + 1));
    if (!kind) return BadKill(text, "unknown kind of kill", spec);
    kill.kind = *kind;
    when = when.substr(0, colon);
  }
  if (const std::size_t colon = replica.find(':'); colon != std::string_view::npos) {
    const auto index = ParseNumber<std::int32_t>(replica.substr(colon + 1));
    if (!index) return BadKill(text, "INDEX is not a number", spec);
    kill.target.index = *index;
    replica = replica.substr(0, colon);
  }
  const auto role = plan::RoleFromName(replica);
  if (!role) return BadKill(text, "ROLE must be " + std::string(kRoleNames), spec);
  kill.target.role = *role;
  const Status moment = ParseMoment(when, spec, &kill);
  if (!moment.ok()) return BadKill(text, moment.message(), spec);
  if (kill.target.index < 0 || kill.target.index >= plan::DesiredReplicas(spec, *role)) {
    return BadKill(text, "the job has no " + plan::ReplicaKey(kill.target), spec);
  }
  return kill;
}

bool IsDue(const ChaosKill& kill, double committed, double expected) {
  if (kill.calls) return committed >= static_cast<double>(*kill.calls);
  return committed < expected && committed * kPercent >= kill.percent * expected;
}

/// The stat that shows that a replica of the role is at work.
std::string_view WorkKey(plan::Role role) {
  switch (role) {
    case plan::Role::kChief:
      return "commits_counted";
    case plan::Role::kPs:
      return "pushes_applied";
    case plan::Role::kWorker:
      return "commits_reported";
    case plan::Role::kEvaluator:
      return "evaluations";
  }
  return {};
}

}  // namespace

Result<std::vector<ChaosKill>> ParseChaos(std::string_view text, const JobSpec& spec) {
  std::vector<ChaosKill> kills;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    PSTRAIN_ASSIGN_OR_RETURN(const ChaosKill kill, ParseKill(text.substr(0, comma), spec));
    kills.push_back(kill);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return kills;
}

Chaos::Chaos(const std::vector<ChaosKill>& kills) {
  for (const ChaosKill& kill : kills) {
    KillRecord record;
    record.kill = kill;
    records_.push_back(record);
  }
}

void Chaos::Update(double committed, double expected, ReplicaSet& replicas, SteadyTime now) {
  if (expected <= 0) return;
  for (KillRecord& record : records_) {
    if (record.fired || !IsDue(record.kill, committed, expected)) continue;
    if (!record.due_since) record.due_since = now;
    if (Fire(record, replicas, now)) record.at_examples = static_cast<std::int64_t>(committed);
    record.late = !record.fired && now - *record.due_since >= kKillPatience;
  }
}

bool Chaos::Fire(KillRecord& record, ReplicaSet& replicas, SteadyTime now) {
  const Attempt* attempt = replicas.FindAlive(record.kill.target);
  if (attempt == nullptr || attempt->replica.terminating) return false;
  // Its program must run, whatever is killed: else there is nothing to lose.
  if (!attempt->child || !attempt->child->Signal(0)) return false;
  switch (record.kill.kind) {
    case KillKind::kKill:
      if (!attempt->child->Signal(SIGKILL)) return false;
      break;
    case KillKind::kTerm:
      // By way of the set, so that the plan knows that the replica was told to stop.
      replicas.Stop({attempt->replica.id, attempt->replica.attempt}, std::chrono::seconds::max(),
                    now);
      break;
    case KillKind::kAgent:
      attempt->process.Signal(SIGKILL);
      break;
  }
  record.fired = true;
  record.attempt = attempt->replica.attempt;
  record.fired_at = now;
  return true;
}

void Chaos::Observe(const AttemptId& id, const AgentReading& reading, SteadyTime now) {
  for (KillRecord& record : records_) {
    if (!record.fired || record.first_step_after_s || record.kill.target != id.replica) continue;
    if (id.attempt <= record.attempt || reading.Value(WorkKey(id.replica.role)) <= 0) continue;
    record.first_step_after_s = std::chrono::duration<double>(now - record.fired_at).count();
  }
}

bool Chaos::AllFired() const {
  return std::all_of(records_.begin(), records_.end(),
                     [](const KillRecord& record) { return record.fired; });
}

std::set<double> Chaos::AwaitedPercents() const {
  std::set<double> percents;
  for (const KillRecord& record : records_) {
    if (!record.fired && !record.late && !record.kill.calls) percents.insert(record.kill.percent);
  }
  return percents;
}

bool Chaos::Awaits(const plan::ReplicaId& replica) const {
  return std::any_of(records_.begin(), records_.end(), [&](const KillRecord& record) {
    return record.fired && !record.first_step_after_s && record.kill.target == replica;
  });
}

}  // namespace pstrain::local
