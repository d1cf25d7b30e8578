#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
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
    /// Agents asked at once: one that does not answer must not hold up the others.
    std::size_t parallel_calls = 8;
  };
  /// What the agent of the pod with this IP address answers to /progress.
  using Fetch =
      std::function<Result<std::string>(const std::string& pod_ip, const std::stop_token& stop)>;

  /// None of the references is owned.
  ProgressPoller(const JobStore& jobs, const PodStore& pods, const Clock& clock, ProgressBook& book,
                 kube::WorkQueue& queue, Fetch fetch, Options options);

  /// Blocks until `stop`.
  void Run(const std::stop_token& stop);

  /// One round: asks every running chief once and queues the jobs that have news.
  void PollOnce(const std::stop_token& stop);

 private:
  struct Target {
    kube::ObjectKey job;
    std::string job_uid;
    std::string pod_ip;
    std::int32_t attempt = 0;
  };
  std::vector<Target> Targets() const;

  const JobStore& jobs_;
  const PodStore& pods_;
  const Clock& clock_;
  ProgressBook& book_;
  kube::WorkQueue& queue_;
  const Fetch fetch_;
  const Options options_;
};

}  // namespace pstrain::job
