#include "operator/job/observe/uncounted_pods.h"

#include <algorithm>

#include "operator/job/observe/pod_termination.h"

namespace pstrain::job {
namespace {

bool NeedsSuccessor(const plan::Replica& replica) {
  return replica.terminating || replica.phase == plan::ReplicaPhase::kFailed;
}

/// Readable and somebody's.
bool IsOwned(const PodStore::Object& pod) {
  return pod && pod->object.ok() && !pod->object->controller_uid.empty();
}

}  // namespace

void Observations::NoteLoss(const plan::Replica& replica, Job& job) const {
  if (!NeedsSuccessor(replica)) return;
  const auto [known, added] =
      job.lost.try_emplace(replica.id, Loss{.attempt = replica.attempt, .at = clock_.Now()});
  if (!added && known->second.attempt < replica.attempt) {
    known->second = {.attempt = replica.attempt, .at = clock_.Now()};
  }
}

void Observations::PodChanged(const PodStore::Object& before, const PodStore::Object& after) {
  const bool left =
      IsOwned(before) && (!after || after->meta.uid != before->meta.uid || !after->object.ok() ||
                          after->object->controller_uid != before->object->controller_uid);
  if (left) PodIsGone(before->object->controller_uid, *before->object);
  if (!IsOwned(after)) return;
  MutexLock lock(mutex_);
  NoteLoss(ToReplica(*after->object), jobs_[after->object->controller_uid]);
}

void Observations::PodIsGone(const std::string& job_uid, const PodView& pod) {
  const plan::Replica replica =
      ToGoneReplica(pod, plan::Time(std::chrono::milliseconds(clock_.UnixMillis())));
  MutexLock lock(mutex_);
  Job& job = jobs_[job_uid];
  NoteLoss(replica, job);
  const bool known = std::any_of(job.gone.begin(), job.gone.end(),
                                 [&pod](const GonePod& gone) { return gone.uid == pod.uid; });
  if (!known) job.gone.push_back({.uid = pod.uid, .replica = replica});
}

std::vector<GonePod> Observations::Gone(const std::string& job_uid) const {
  MutexLock lock(mutex_);
  const auto job = jobs_.find(job_uid);
  return job == jobs_.end() ? std::vector<GonePod>() : job->second.gone;
}

void Observations::Drop(const std::string& job_uid, const std::vector<GonePod>& counted) {
  MutexLock lock(mutex_);
  const auto job = jobs_.find(job_uid);
  if (job == jobs_.end()) return;
  std::erase_if(job->second.gone, [&counted](const GonePod& pod) {
    return std::any_of(counted.begin(), counted.end(),
                       [&pod](const GonePod& one) { return one.uid == pod.uid; });
  });
}

std::optional<std::chrono::nanoseconds> Observations::TakeLossAge(const std::string& job_uid,
                                                                  const plan::ReplicaId& place,
                                                                  std::int32_t attempt) {
  MutexLock lock(mutex_);
  const auto job = jobs_.find(job_uid);
  if (job == jobs_.end()) return std::nullopt;
  const auto lost = job->second.lost.find(place);
  if (lost == job->second.lost.end() || lost->second.attempt + 1 != attempt) return std::nullopt;
  const std::chrono::nanoseconds age = clock_.Now() - lost->second.at;
  job->second.lost.erase(lost);
  return age;
}

void Observations::Forget(const std::string& job_uid) {
  MutexLock lock(mutex_);
  jobs_.erase(job_uid);
}

}  // namespace pstrain::job
