#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "operator/controller/work_queue.h"
#include "operator/job/observe/job_view.h"
#include "operator/job/observe/progress_store.h"

namespace pstrain::job {

/// Asks the agents of running chiefs how far they are, so that status.training follows without the
/// training pods ever talking to the apiserver. Owned by main; Run on a thread of its own.
class ProgressPoller {
 public:
  struct Options {
    std::chrono::milliseconds period{5000};
    /// Agents asked concurrently: one that does not answer must not hold up the others.
    std::size_t parallel_calls = 8;
  };
  /// What the agent of the pod with this IP address answers to /progress.
  using Fetch =
      std::function<Result<std::string>(const std::string& pod_ip, const std::stop_token& stop)>;

  /// None of the references is owned.
  ProgressPoller(const JobStore& jobs, const PodStore& pods, const Clock& clock,
                 ProgressStore& store, kube::WorkQueue& queue, Fetch fetch, Options options);

  /// Blocks until `stop`.
  void Run(const std::stop_token& stop);

  /// One round: asks every running chief once and queues the jobs whose progress has changed.
  void PollOnce(const std::stop_token& stop);

 private:
  struct Target {
    kube::ObjectKey job;
    std::string job_uid;
    std::string pod_ip;
    std::int32_t index = 0;
    std::int32_t attempt = 0;
  };
  std::vector<Target> Targets() const;
  /// The log has the beginning and the end of each time in which an agent does not answer, or
  /// another answers in its place.
  void Note(const Target& target, const Status& answer) PSTRAIN_EXCLUDES(mutex_);
  void ForgetOthers(const std::vector<Target>& targets) PSTRAIN_EXCLUDES(mutex_);

  const JobStore& jobs_;
  const PodStore& pods_;
  const Clock& clock_;
  ProgressStore& store_;
  kube::WorkQueue& queue_;
  const Fetch fetch_;
  const Options options_;
  /// Calls are parallel.
  Mutex mutex_;
  /// By address and attempt: the agents that did not answer themselves when they were asked last.
  std::set<std::pair<std::string, std::int32_t>> away_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::job
