#include "runtime/worker/work_prefetcher.h"

#include <utility>

#include "runtime/stats/phase_timer.h"

namespace pstrain {

WorkPrefetcher::WorkPrefetcher(GrantSession& session, WorkerStep& step, const PsClient& ps,
                               SecondsCounter* busy)
    : session_(session),
      step_(step),
      ps_(ps),
      busy_(busy),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

WorkPrefetcher::~WorkPrefetcher() {
  thread_.request_stop();
  changed_.NotifyAll();
}

Result<std::optional<ReadyWork>> WorkPrefetcher::Next() {
  const MutexLock lock(mutex_);
  while (ready_.empty() && !done_) changed_.Wait(mutex_);
  if (!ready_.empty()) {
    std::optional<ReadyWork> work(std::move(ready_.front()));
    ready_.pop_front();
    changed_.NotifyAll();
    return work;
  }
  if (!status_.ok()) return status_;
  return std::optional<ReadyWork>();
}

Status WorkPrefetcher::step_error() const {
  const MutexLock lock(mutex_);
  return step_error_;
}

Result<ReadyWork> WorkPrefetcher::Prepare(Grant grant) {
  PhaseTimer timer;
  const WorkId work_id{grant.work_id().epoch(), grant.work_id().batch()};
  Result<PreparedWork> prepared = step_.Prepare(work_id);
  if (!prepared.ok()) {
    const MutexLock lock(mutex_);
    return step_error_ = prepared.status();
  }
  PSTRAIN_ASSIGN_OR_RETURN(RoutedPlan routed, ps_.Route(prepared->access));
  timer.Charge(busy_);
  return ReadyWork{std::move(grant), *std::move(prepared), std::move(routed)};
}

void WorkPrefetcher::Run(const std::stop_token& stop) {
  Status status;
  while (!stop.stop_requested()) {
    std::optional<Grant> grant = session_.NextGrant();
    if (!grant) break;
    Result<ReadyWork> prepared = Prepare(std::move(*grant));
    if (!prepared.ok()) {
      status = prepared.status();
      break;
    }
    // With the work in hand: one piece more than kDepth is prepared while nobody takes any.
    const MutexLock lock(mutex_);
    while (ready_.size() >= kDepth && !stop.stop_requested()) changed_.Wait(mutex_, stop);
    if (ready_.size() >= kDepth) break;
    ready_.push_back(std::move(prepared).value());
    changed_.NotifyAll();
  }
  const MutexLock lock(mutex_);
  status_ = std::move(status);
  done_ = true;
  changed_.NotifyAll();
}

}  // namespace pstrain
