#include "runtime/chief/disk/disk_thread.h"

#include <utility>

#include "base/log.h"
#include "base/seconds.h"

namespace pstrain {
namespace {

/// A work that takes longer is named in the log.
constexpr std::chrono::seconds kSlow{10};

}  // namespace

DiskThread::DiskThread(RunLocked run_locked, const Clock& clock, ProcessEnd* end)
    : run_locked_(std::move(run_locked)),
      clock_(clock),
      end_(end),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void DiskThread::Post(const char* what, Work work) {
  const MutexLock lock(mutex_);
  posted_.push_back({what, std::move(work)});
  changed_.NotifyAll();
}

std::chrono::nanoseconds DiskThread::Watch() {
  const MutexLock lock(mutex_);
  if (!in_hand_) return std::chrono::nanoseconds(0);
  const std::chrono::nanoseconds taken = clock_.Now() - in_hand_->since;
  if (taken > kSlow && !std::exchange(in_hand_->warned, true)) {
    LogWarning("chief", "the run's directory does not answer; waiting for it",
               {{"work", in_hand_->what}, {"seconds", InSeconds(taken)}});
  }
  return taken;
}

void DiskThread::Stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void DiskThread::Finished() {
  const MutexLock lock(mutex_);
  if (in_hand_->warned) {
    LogInfo("chief", "the run's directory answers again",
            {{"work", in_hand_->what}, {"seconds", InSeconds(clock_.Now() - in_hand_->since)}});
  }
  in_hand_.reset();
}

void DiskThread::Run(const std::stop_token& stop) {
  while (true) {
    Posted next;
    {
      const MutexLock lock(mutex_);
      while (posted_.empty() && !stop.stop_requested()) changed_.Wait(mutex_, stop);
      if (stop.stop_requested()) return;
      next = std::move(posted_.front());
      posted_.pop_front();
      in_hand_ = InHand{next.what, clock_.Now()};
    }
    Then then;
    {
      const ProcessEnd::Work work(end_, next.what, ProcessEnd::Named::kAtTheEnd);
      then = next.work();
    }
    Finished();
    run_locked_(then);
  }
}

}  // namespace pstrain
