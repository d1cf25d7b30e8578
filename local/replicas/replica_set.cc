#include "local/replicas/replica_set.h"

#include <algorithm>
#include <csignal>
#include <set>
#include <utility>

#include "base/os/child_processes.h"
#include "base/os/files.h"

namespace pstrain::local {

ReplicaSet::~ReplicaSet() { KillAll(); }

Status ReplicaSet::Start(const AttemptId& id, plan::Time now) {
  PSTRAIN_ASSIGN_OR_RETURN(const ProcessSpec spec, launcher_->Prepare(id.replica, id.attempt));
  PSTRAIN_ASSIGN_OR_RETURN(ReplicaProcess process, ReplicaProcess::Start(spec));
  auto attempt =
      std::make_unique<Attempt>(id, std::move(process), launcher_->MetricsPort(id.replica));
  attempt->replica.phase = plan::ReplicaPhase::kRunning;
  attempt->replica.started = now;
  attempts_[id] = std::move(attempt);
  return OkStatus();
}

void ReplicaSet::Stop(const AttemptId& id, std::chrono::seconds grace, SteadyTime now) {
  const auto found = attempts_.find(id);
  if (found == attempts_.end() || !found->second->replica.Live()) return;
  Attempt& attempt = *found->second;
  attempt.replica.terminating = true;
  attempt.kill_at = now + std::min(grace, launcher_->Grace(id.replica.role));
  attempt.process.Signal(SIGTERM);
}

void ReplicaSet::Delete(const AttemptId& id) {
  const auto found = attempts_.find(id);
  if (found != attempts_.end() && found->second->replica.Ended()) attempts_.erase(found);
}

void ReplicaSet::Note(Attempt& attempt, AgentReading reading) {
  if (reading.child_pid > 0 &&
      (!attempt.child || attempt.child->pid() != static_cast<pid_t>(reading.child_pid))) {
    Result<ForeignProcess> child = ForeignProcess::Open(static_cast<pid_t>(reading.child_pid));
    if (child.ok()) attempt.child = std::move(child).value();
  }
  attempt.replica.ready = reading.Value("ready") > 0;
  readings_[{attempt.replica.id, attempt.replica.attempt}] = reading;
  attempt.reading = std::move(reading);
}

void ReplicaSet::NoteEnd(Attempt& attempt, const ProcessEnd& end, plan::Time now) {
  plan::Replica& replica = attempt.replica;
  replica.exit_code = end.exit_code;
  replica.signal = end.signal;
  replica.phase = end.exit_code == 0 ? plan::ReplicaPhase::kSucceeded : plan::ReplicaPhase::kFailed;
  replica.ended = now;
  replica.ready = false;
  attempt.kill_at.reset();
  const std::string file = workspace_->StatsFile(replica.id, replica.attempt);
  if (FileExists(file)) {
    const Result<std::string> text = ReadFile(file);
    if (text.ok()) {
      Result<AgentReading> reading = ParseAgentReading(*text);
      if (reading.ok()) {
        replica.failure = reading->failure;
        replica.message = reading->message;
        readings_[{replica.id, replica.attempt}] = std::move(reading).value();
      }
    }
  }
  // Best effort: a folder that stays is removed when the next run begins.
  static_cast<void>(RemoveAll(workspace_->ScratchDir(replica.id, replica.attempt)));
}

bool ReplicaSet::Observe(plan::Time now, SteadyTime steady_now) {
  bool changed = false;
  for (auto& [id, attempt] : attempts_) {
    if (attempt->replica.Ended()) continue;
    if (attempt->kill_at && steady_now >= *attempt->kill_at) {
      attempt->process.KillGroup();
      attempt->kill_at.reset();
    }
    if (const std::optional<ProcessEnd> end = attempt->process.TryWait()) {
      NoteEnd(*attempt, *end, now);
      changed = true;
    }
  }
  if (changed) KillOrphans();
  return changed;
}

void ReplicaSet::KillOrphans() {
  std::set<pid_t> agents;
  for (const auto& [id, attempt] : attempts_) {
    if (!attempt->replica.Ended()) agents.insert(attempt->process.pid());
  }
  KillChildrenExcept(agents);
}

void ReplicaSet::KillAll() {
  for (auto& [id, attempt] : attempts_) {
    if (!attempt->replica.Ended()) attempt->process.KillGroup();
  }
  attempts_.clear();  // waits for each
  KillOrphans();
}

std::vector<plan::Replica> ReplicaSet::Replicas() const {
  std::vector<plan::Replica> replicas;
  replicas.reserve(attempts_.size());
  for (const auto& [id, attempt] : attempts_) replicas.push_back(attempt->replica);
  return replicas;
}

std::optional<SteadyTime> ReplicaSet::NextDeadline() const {
  std::optional<SteadyTime> next;
  for (const auto& [id, attempt] : attempts_) {
    if (!attempt->kill_at) continue;
    next = next ? std::min(*next, *attempt->kill_at) : *attempt->kill_at;
  }
  return next;
}

bool ReplicaSet::AnyAlive() const {
  return std::any_of(attempts_.begin(), attempts_.end(),
                     [](const auto& entry) { return !entry.second->replica.Ended(); });
}

Attempt* ReplicaSet::FindAlive(const plan::ReplicaId& id) {
  for (auto entry = attempts_.rbegin(); entry != attempts_.rend(); ++entry) {
    if (entry->first.replica == id && !entry->second->replica.Ended()) {
      return entry->second.get();
    }
  }
  return nullptr;
}

}  // namespace pstrain::local
