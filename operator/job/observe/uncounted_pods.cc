#include "operator/job/observe/uncounted_pods.h"

#include <algorithm>
#include <utility>

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

void UncountedPods::RecordLoss(const plan::Replica& replica, Job& job) const {
  if (!NeedsSuccessor(replica)) return;
  const auto [known, added] =
      job.lost.try_emplace(replica.id, Loss{.attempt = replica.attempt, .at = clock_.Now()});
  if (!added && known->second.attempt < replica.attempt) {
    known->second = {.attempt = replica.attempt, .at = clock_.Now()};
  }
}

void UncountedPods::RecordReady(const plan::Replica& replica, Job& job) const {
  const auto lost = job.lost.find(replica.id);
  if (!replica.ready || lost == job.lost.end() || lost->second.attempt >= replica.attempt) return;
  job.ready.push_back({.role = replica.id.role, .took = clock_.Now() - lost->second.at});
  job.lost.erase(lost);
}

void UncountedPods::PodChanged(const PodStore::Object& before, const PodStore::Object& after) {
  const bool left =
      IsOwned(before) && (!after || after->meta.uid != before->meta.uid || !after->object.ok() ||
                          after->object->controller_uid != before->object->controller_uid);
  if (left) RecordGone(before->object->controller_uid, *before->object);
  if (!IsOwned(after)) return;
  const plan::Replica replica = ToReplica(*after->object);
  MutexLock lock(mutex_);
  Job& job = jobs_[after->object->controller_uid];
  RecordReady(replica, job);
  RecordLoss(replica, job);
}

void UncountedPods::RecordGone(const std::string& job_uid, const PodView& pod) {
  const plan::Replica replica =
      ToGoneReplica(pod, plan::Time(std::chrono::milliseconds(clock_.UnixMillis())));
  MutexLock lock(mutex_);
  Job& job = jobs_[job_uid];
  RecordLoss(replica, job);
  const bool known = std::any_of(job.gone.begin(), job.gone.end(),
                                 [&pod](const UncountedPod& gone) { return gone.uid == pod.uid; });
  if (!known) job.gone.push_back({.uid = pod.uid, .replica = replica});
}

std::vector<UncountedPod> UncountedPods::List(const std::string& job_uid) const {
  MutexLock lock(mutex_);
  const auto job = jobs_.find(job_uid);
  return job == jobs_.end() ? std::vector<UncountedPod>() : job->second.gone;
}

void UncountedPods::MarkCounted(const std::string& job_uid,
                                const std::vector<UncountedPod>& counted) {
  MutexLock lock(mutex_);
  const auto job = jobs_.find(job_uid);
  if (job == jobs_.end()) return;
  std::erase_if(job->second.gone, [&counted](const UncountedPod& pod) {
    return std::any_of(counted.begin(), counted.end(),
                       [&pod](const UncountedPod& one) { return one.uid == pod.uid; });
  });
}

std::optional<std::chrono::nanoseconds> UncountedPods::TakeTimeSinceLoss(
    const std::string& job_uid, const plan::ReplicaId& replica, std::int32_t attempt) {
  MutexLock lock(mutex_);
  const auto job = jobs_.find(job_uid);
  if (job == jobs_.end()) return std::nullopt;
  const auto lost = job->second.lost.find(replica);
  if (lost == job->second.lost.end() || lost->second.attempt + 1 != attempt) return std::nullopt;
  if (std::exchange(lost->second.told, true)) return std::nullopt;
  return clock_.Now() - lost->second.at;
}

std::vector<UncountedPods::Ready> UncountedPods::TakeReady(const std::string& job_uid) {
  MutexLock lock(mutex_);
  const auto job = jobs_.find(job_uid);
  if (job == jobs_.end()) return {};
  return std::exchange(job->second.ready, {});
}

void UncountedPods::ForgetLosses(const std::string& job_uid) {
  MutexLock lock(mutex_);
  const auto job = jobs_.find(job_uid);
  if (job != jobs_.end()) job->second.lost.clear();
}

void UncountedPods::Forget(const std::string& job_uid) {
  MutexLock lock(mutex_);
  jobs_.erase(job_uid);
}

}  // namespace pstrain::job
