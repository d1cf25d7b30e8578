#include "operator/job/observe/progress_poller.h"

#include <utility>

#include "base/log.h"
#include "operator/controller/parallel.h"
#include "operator/job/observe/pod_termination.h"
#include "operator/kube/pause.h"
#include "proto/contract/replica_specs.h"

namespace pstrain::job {

ProgressPoller::ProgressPoller(const JobStore& jobs, const PodStore& pods, const Clock& clock,
                               ProgressStore& store, kube::WorkQueue& queue, Fetch fetch,
                               Options options)
    : jobs_(jobs),
      pods_(pods),
      clock_(clock),
      store_(store),
      queue_(queue),
      fetch_(std::move(fetch)),
      options_(options) {}

void ProgressPoller::Run(const std::stop_token& stop) {
  kube::RealPause pause;
  while (!stop.stop_requested()) {
    PollOnce(stop);
    pause.For(options_.period, stop);
  }
}

std::vector<ProgressPoller::Target> ProgressPoller::Targets() const {
  std::vector<Target> targets;
  for (const JobStore::Object& job : jobs_.List()) {
    if (!job->object.ok() || !UsesRuntime(job->object->spec())) continue;
    for (const PodStore::Object& pod : pods_.ByOwner(job->meta.uid)) {
      if (!pod->object.ok()) continue;
      const PodView& view = *pod->object;
      if (view.replica.role != plan::Role::kChief || view.deleted || view.pod_ip.empty() ||
          ToReplica(view).phase != plan::ReplicaPhase::kRunning) {
        continue;
      }
      targets.push_back({.job = job->meta.key,
                         .job_uid = job->meta.uid,
                         .pod_ip = view.pod_ip,
                         .index = view.replica.index,
                         .attempt = view.attempt});
    }
  }
  return targets;
}

void ProgressPoller::Note(const Target& target, const Status& answer) {
  const std::pair agent(target.pod_ip, target.attempt);
  const MutexLock lock(mutex_);
  if (!answer.ok() && away_.insert(agent).second) {
    const bool of_another = answer.code() == StatusCode::kFailedPrecondition;
    LogWarning("progress",
               of_another
                   ? "another answers at the address of the chief's agent; the status of the job "
                     "may be old"
                   : "the chief's agent does not answer; the status of the job may be old",
               {{"job", target.job.ToString()}, {"pod_ip", target.pod_ip}, {"error", answer}});
  } else if (answer.ok() && away_.erase(agent) > 0) {
    LogInfo("progress", "the chief's agent answers again",
            {{"job", target.job.ToString()}, {"pod_ip", target.pod_ip}});
  }
}

void ProgressPoller::ForgetOthers(const std::vector<Target>& targets) {
  std::set<std::pair<std::string, std::int32_t>> asked;
  for (const Target& target : targets) asked.insert({target.pod_ip, target.attempt});
  const MutexLock lock(mutex_);
  std::erase_if(away_, [&asked](const auto& agent) { return !asked.contains(agent); });
}

void ProgressPoller::PollOnce(const std::stop_token& stop) {
  const std::vector<Target> targets = Targets();
  ForgetOthers(targets);
  kube::RunParallel(targets.size(), options_.parallel_calls, [&](std::size_t i) {
    const Target& target = targets[i];
    const auto body = fetch_(target.pod_ip, stop);
    const plan::Time now{std::chrono::milliseconds(clock_.UnixMillis())};
    const ProgressSource chief{.job_uid = target.job_uid,
                               .replica = {plan::Role::kChief, target.index},
                               .attempt = target.attempt};
    auto reading =
        body.ok() ? ParseProgress(*body, now, chief) : Result<ProgressReading>(body.status());
    if (!stop.stop_requested()) Note(target, reading.status());
    if (reading.ok() && store_.Record(target.job_uid, std::move(*reading))) {
      queue_.Add(target.job);
    }
    return !stop.stop_requested();
  });
}

}  // namespace pstrain::job
