#include "operator/job/act/job_events.h"

#include <utility>

#include "operator/job/act/peer_identity.h"
#include "operator/job/build/object_names.h"
#include "operator/job/build/ps_count.h"
#include "operator/job/observe/checkpoint_progress.h"
#include "operator/job/observe/checkpoint_volume.h"
#include "operator/job/observe/problem/refused_create.h"
#include "operator/job/well_known.h"
#include "operator/plan/conditions.h"

namespace pstrain::job {
namespace {

kube::Event Make(const PSTrainingJob& job, kube::EventType type, std::string reason,
                 std::string action, std::string note) {
  const ObjectMeta& metadata = job.metadata();
  return {.subject = {.api_version = std::string(kApiVersion),
                      .kind = std::string(kKind),
                      .key = {.name_space = metadata.namespace_(), .name = metadata.name()},
                      .uid = metadata.uid()},
          .type = type,
          .reason = std::move(reason),
          .action = std::move(action),
          .note = std::move(note)};
}

/// The warning that a template cannot be used, once for what is wrong with it.
std::optional<kube::Event> EventOfTemplate(const PSTrainingJob& job, const JobStatus& before,
                                           const JobStatus& after) {
  const Condition* now = plan::FindCondition(after, kAccepted);
  if (now == nullptr || now->status() != "False" || now->reason() != kInvalidTemplate) {
    return std::nullopt;
  }
  const Condition* known = plan::FindCondition(before, kAccepted);
  const bool said =
      known != nullptr && known->status() == "False" && known->message() == now->message();
  if (said) return std::nullopt;
  return Warning(job, now->reason(), now->message());
}

/// What follows from it besides the next attempt; empty when nothing does.
std::string ConsequenceOf(const plan::CountedEnd& counted) {
  std::string text;
  if (counted.ruling) text += "; " + plan::DescribeRuling(*counted.ruling);
  if (counted.given_up) text += "; it is given up and not started again";
  return text;
}

}  // namespace

kube::Event EventOfStart(const PSTrainingJob& job, const plan::StartReplica& start) {
  const std::string pod = PodName(job.metadata().name(), start.id, start.attempt);
  if (start.attempt == 0) {
    return Make(job, kube::EventType::kNormal, "ReplicaStarted", "StartReplica",
                "created pod " + pod);
  }
  return Make(job, kube::EventType::kNormal, "ReplicaRestarted", "StartReplica",
              "created pod " + pod + " to replace attempt " + std::to_string(start.attempt - 1));
}

kube::Event EventOfEnd(const PSTrainingJob& job, const plan::CountedEnd& counted) {
  std::string pod = PodName(job.metadata().name(), counted.id, counted.attempt);
  kube::Event event =
      Make(job, counted.failure ? kube::EventType::kWarning : kube::EventType::kNormal,
           counted.failure ? "ReplicaFailed" : "ReplicaDisrupted", "CountEnd",
           plan::DescribeAttemptEnd(counted.id, counted.end) + ConsequenceOf(counted) + " (pod " +
               pod + ")");
  event.distinct = std::move(pod);
  return event;
}

kube::Event EventOfPsCount(const PSTrainingJob& job) {
  return Make(job, kube::EventType::kNormal, "PsScaled", "ScalePs",
              "told the chief that the job has " + PsCountText(job.spec()) +
                  " ps; shards move while training continues");
}

std::vector<kube::Event> EventsOfStatus(const PSTrainingJob& job, const JobStatus& before,
                                        const JobStatus& after) {
  std::vector<kube::Event> events;
  if (before.phase() == after.phase()) return events;
  switch (after.phase()) {
    case JobStatus::Succeeded:
    case JobStatus::Failed: {
      const bool succeeded = after.phase() == JobStatus::Succeeded;
      const std::string type = JobStatus::Phase_Name(after.phase());
      const Condition* condition = plan::FindCondition(after, type);
      std::string note = condition == nullptr ? type : condition->reason();
      if (condition != nullptr && !condition->message().empty())
        note += ": " + condition->message();
      events.push_back(Make(job, succeeded ? kube::EventType::kNormal : kube::EventType::kWarning,
                            type, "FinishJob", std::move(note)));
      break;
    }
    case JobStatus::Suspended:
      events.push_back(Make(job, kube::EventType::kNormal, "Suspended", "SuspendJob",
                            "all replicas have drained"));
      break;
    default:
      if (before.phase() == JobStatus::Suspended) {
        events.push_back(Make(job, kube::EventType::kNormal, "Resumed", "ResumeJob",
                              "replicas start from the newest checkpoint"));
      }
  }
  return events;
}

std::vector<kube::Event> EventsOfProblems(const PSTrainingJob& job, const JobStatus& before,
                                          const JobStatus& after) {
  std::vector<kube::Event> events;
  for (const char* type :
       {kCheckpointNotShared, kCheckpointsFailing, kPeersNotVerified, kIssuerKeysStale}) {
    const Condition* now = plan::FindCondition(after, type);
    if (now == nullptr || now->status() != "True") continue;
    const Condition* known = plan::FindCondition(before, type);
    const bool said =
        known != nullptr && known->status() == "True" && known->reason() == now->reason();
    if (!said) events.push_back(Warning(job, now->reason(), now->message()));
  }
  if (auto refused = EventOfTemplate(job, before, after)) events.push_back(std::move(*refused));
  return events;
}

kube::Event Warning(const PSTrainingJob& job, std::string reason, std::string note) {
  return Make(job, kube::EventType::kWarning, std::move(reason), "Reconcile", std::move(note));
}

}  // namespace pstrain::job
