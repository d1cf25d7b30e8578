#include "runtime/worker/work_prefetcher.h"

#include <utility>

#include "base/log.h"
#include "base/seconds.h"
#include "runtime/stats/phase_timer.h"

namespace pstrain {
namespace {

/// Between two looks whether the session goes on, while nothing is ready.
constexpr std::chrono::milliseconds kLook{200};

}  // namespace

WorkPrefetcher::WorkPrefetcher(GrantSession& session, WorkerStep& step, const PsClient& ps,
                               Declared declared, SecondsCounter* busy, ProcessEnd* end)
    : session_(session),
      step_(step),
      ps_(ps),
      declared_(std::move(declared)),
      busy_(busy),
      end_(end),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

WorkPrefetcher::~WorkPrefetcher() {
  thread_.request_stop();
  changed_.NotifyAll();
}

// The session may give up what it has granted, but nothing gives a thread back that waits for a
// disk: whoever waits for its work would wait as long.
bool WorkPrefetcher::GivenUp(std::optional<SteadyTime>& leaving) const {
  if (session_.end() != SessionEnd::kNone) return true;
  if (!session_.leaving()) return false;
  if (!leaving) leaving = SteadyNow();
  if (SteadyNow() - *leaving < kLastRead) return false;
  LogWarning("worker", "this worker leaves: what is being read does not come, and is given back",
             {{"seconds", InSeconds(kLastRead)}});
  return true;
}

Result<std::optional<ReadyWork>> WorkPrefetcher::Next() {
  std::optional<SteadyTime> leaving;
  const MutexLock lock(mutex_);
  while (ready_.empty() && !done_) {
    if (changed_.WaitFor(mutex_, kLook)) continue;
    if (GivenUp(leaving)) return std::optional<ReadyWork>();
  }
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

// The description comes with the poll that brings the grant, or with one before it.
Status WorkPrefetcher::TellOfVariables() {
  const std::shared_ptr<const RunDescription> run = session_.run();
  if (run == nullptr || (run_ != nullptr && run_->variables_size() == run->variables_size())) {
    return OkStatus();
  }
  PSTRAIN_RETURN_IF_ERROR(declared_(*run));
  run_ = run;
  return OkStatus();
}

Result<ReadyWork> WorkPrefetcher::Prepare(Grant grant) {
  PhaseTimer timer;
  PSTRAIN_RETURN_IF_ERROR(TellOfVariables());
  const WorkId work_id{grant.work_id().epoch(), grant.work_id().batch()};
  const ProcessEnd::Work work(end_, "read " + step_.Describe(work_id));
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
