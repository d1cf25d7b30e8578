#include "operator/job/act/status_summary.h"

#include <array>
#include <string>
#include <string_view>

#include "operator/job/observe/checkpoint_progress.h"
#include "operator/job/observe/checkpoint_volume.h"
#include "operator/job/observe/problem/refused_create.h"
#include "operator/plan/conditions.h"
#include "operator/plan/plan.h"

namespace pstrain::job {
namespace {

/// What of the replicas is not there.
struct Absent {
  /// "chief 0/1, worker 2/3 ready"; empty: all are there.
  std::string not_ready;
  /// "evaluator-0": given up, and not waited for.
  std::string given_up;
};

void AddTo(std::string& list, const std::string& item) {
  list += (list.empty() ? "" : ", ") + item;
}

Absent FindAbsent(const JobStatus& status) {
  Absent absent;
  for (const plan::Role role : plan::kRoles) {
    const std::string name(plan::RoleName(role));
    const auto counts = status.replica_statuses().find(name);
    if (counts == status.replica_statuses().end()) continue;
    std::int32_t gone = 0;
    for (std::int32_t i = 0; i < counts->second.desired(); ++i) {
      const std::string replica = plan::ReplicaKey({role, i});
      const auto record = status.restarts().replicas().find(replica);
      if (record == status.restarts().replicas().end() || !record->second.given_up()) continue;
      ++gone;
      AddTo(absent.given_up, replica);
    }
    const std::int32_t there = counts->second.ready() + counts->second.succeeded() + gone;
    if (there < counts->second.desired()) {
      AddTo(absent.not_ready, name + " " + counts->second.summary());
    }
  }
  if (!absent.not_ready.empty()) absent.not_ready += " ready";
  return absent;
}

void Remove(std::string_view type, JobStatus& status) {
  auto& conditions = *status.mutable_conditions();
  for (int i = conditions.size() - 1; i >= 0; --i) {
    if (conditions[i].type() == type) conditions.DeleteSubrange(i, 1);
  }
}

/// Why nobody waits for replicas any more; empty: somebody does.
std::string StopReason(const JobStatus& status) {
  if (plan::IsFinished(status)) return "JobFinished";
  const Condition* suspended = plan::FindCondition(status, "Suspended");
  const bool stops = suspended != nullptr && suspended->reason() != "NotSuspended";
  return stops ? suspended->reason() : std::string();
}

/// Sets conditions of one status.
class Writer {
 public:
  Writer(std::int64_t generation, plan::Time now, JobStatus& status)
      : generation_(generation), now_(now), status_(status) {}

  void Set(std::string_view type, bool value, std::string_view reason,
           std::string_view message = {}) const {
    plan::PutCondition({.type = type,
                        .value = value,
                        .reason = reason,
                        .message = message,
                        .generation = generation_},
                       now_, status_);
  }

 private:
  std::int64_t generation_;
  plan::Time now_;
  JobStatus& status_;
};

void SetDegraded(const Absent& absent, const Writer& writer, const JobStatus& status) {
  if (absent.not_ready.empty() && absent.given_up.empty()) {
    writer.Set(kDegraded, false, "AllReplicas");
  } else if (absent.not_ready.empty()) {
    writer.Set(kDegraded, true, "ReplicasGivenUp",
               "the job goes on without " + absent.given_up +
                   ", which failed for good; status.restarts says how");
  } else if (plan::FindCondition(status, kDegraded) != nullptr) {
    std::string message = absent.not_ready + "; the others go on, and what is missing is ";
    message += "started again: the conditions Restarting and Blocked say what it waits for";
    if (!absent.given_up.empty()) message += "; given up: " + absent.given_up;
    writer.Set(kDegraded, true, "ReplicasMissing", message);
  }
}

void SetCheckpointed(const Writer& writer, const JobStatus& status) {
  const std::string& time = status.training().last_checkpoint_time();
  if (!time.empty()) {
    writer.Set(kCheckpointed, true, "CheckpointWritten",
               "the newest checkpoint was written at " + time +
                   "; the loss of all pods costs what was trained since");
  } else {
    writer.Set(kCheckpointed, false, "NoCheckpointYet",
               "the loss of all pods would begin the training again");
  }
}

/// The condition that gives a status its reason while it has that value.
struct Rank {
  std::string_view type;
  bool value;
};
/// What matters most comes first.
constexpr std::array<Rank, 13> kRanks = {{
    {"Failed", true},
    {"Succeeded", true},
    {"Suspended", true},
    {kAccepted, false},
    {"NameConflict", true},
    {"Blocked", true},
    {kCheckpointsFailing, true},
    {"Restarting", true},
    {kDegraded, true},
    {kCheckpointNotShared, true},
    {"Running", true},
    {"Running", false},
    {"Created", true},
}};

void SetReason(JobStatus& status) {
  for (const Rank& rank : kRanks) {
    const Condition* condition = plan::FindCondition(status, rank.type);
    if (condition == nullptr || (condition->status() == "True") != rank.value) continue;
    status.set_reason(condition->reason());
    return;
  }
  status.clear_reason();
}

}  // namespace

void Summarize(bool checkpoints, std::int64_t generation, plan::Time now, JobStatus& status) {
  const Writer writer(generation, now, status);
  const std::string stopped = StopReason(status);
  if (!stopped.empty()) {
    writer.Set(kPodsReady, false, stopped);
    Remove(kDegraded, status);
  } else {
    const Absent absent = FindAbsent(status);
    const bool ready = absent.not_ready.empty();
    writer.Set(kPodsReady, ready, ready ? "AllReplicas" : "ReplicasNotReady", absent.not_ready);
    SetDegraded(absent, writer, status);
  }
  // Whether there is one is known once the chief has been heard.
  if (checkpoints && status.training().examples_expected() > 0) SetCheckpointed(writer, status);
  SetReason(status);
}

void SetInvalidSpec(const std::string& message, std::int64_t generation, plan::Time now,
                    JobStatus& status) {
  Writer(generation, now, status).Set(kAccepted, false, "InvalidSpec", message);
  SetReason(status);
}

}  // namespace pstrain::job
