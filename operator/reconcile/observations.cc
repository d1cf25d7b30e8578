#include "operator/reconcile/observations.h"

#include <algorithm>

#include "operator/reconcile/pod_ending.h"

namespace pstrain::reconcile {
namespace {

bool NeedsSuccessor(const plan::Replica& replica) {
  return replica.terminating || replica.phase == plan::ReplicaPhase::kFailed;
}

}  // namespace

void Observations::PodChanged(const PodStore::Object& before, const PodStore::Object& after) {
  const PodStore::Object& pod = after ? after : before;
  if (!pod || !pod->object.ok() || pod->object->controller_uid.empty()) return;
  const PodView& view = *pod->object;
  const plan::Replica replica =
      after ? ToReplica(view)
            : ToGoneReplica(view, plan::Time(std::chrono::milliseconds(clock_.UnixMillis())));
  MutexLock lock(mutex_);
  Job& job = jobs_[view.controller_uid];
  if (NeedsSuccessor(replica)) job.lost_at.emplace(view.place, clock_.Now());
  if (!after) job.gone.push_back({.uid = view.uid, .replica = replica});
}

std::vector<plan::Replica> Observations::Gone(const std::string& job_uid) const {
  std::vector<plan::Replica> replicas;
  MutexLock lock(mutex_);
  const auto job = jobs_.find(job_uid);
  if (job == jobs_.end()) return replicas;
  for (const GonePod& pod : job->second.gone) replicas.push_back(pod.replica);
  return replicas;
}

bool Observations::IsGone(const std::string& job_uid, const std::string& pod_uid) const {
  MutexLock lock(mutex_);
  const auto job = jobs_.find(job_uid);
  if (job == jobs_.end()) return false;
  const auto& gone = job->second.gone;
  return std::any_of(gone.begin(), gone.end(),
                     [&pod_uid](const GonePod& pod) { return pod.uid == pod_uid; });
}

void Observations::DropCounted(const std::string& job_uid, const Restarts& restarts) {
  MutexLock lock(mutex_);
  const auto job = jobs_.find(job_uid);
  if (job == jobs_.end()) return;
  std::erase_if(job->second.gone, [&restarts](const GonePod& pod) {
    const auto record = restarts.replicas().find(plan::ReplicaKey(pod.replica.id));
    return record != restarts.replicas().end() && record->second.attempt() > pod.replica.attempt;
  });
}

std::optional<std::chrono::nanoseconds> Observations::TakeLossAge(const std::string& job_uid,
                                                                  const plan::ReplicaId& place) {
  MutexLock lock(mutex_);
  const auto job = jobs_.find(job_uid);
  if (job == jobs_.end()) return std::nullopt;
  const auto lost = job->second.lost_at.find(place);
  if (lost == job->second.lost_at.end()) return std::nullopt;
  const std::chrono::nanoseconds age = clock_.Now() - lost->second;
  job->second.lost_at.erase(lost);
  return age;
}

void Observations::Forget(const std::string& job_uid) {
  MutexLock lock(mutex_);
  jobs_.erase(job_uid);
}

}  // namespace pstrain::reconcile
