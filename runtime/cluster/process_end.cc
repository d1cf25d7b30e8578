#include "runtime/cluster/process_end.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/seconds.h"

namespace pstrain {
namespace {

/// Of the grace period, for the exit code to be seen before SIGKILL.
constexpr std::chrono::seconds kGraceReserve{1};
/// Between two words of one work that does not return.
constexpr std::chrono::seconds kNextWord{60};

}  // namespace

ProcessEnd::ProcessEnd(Options options, EndNow end_now)
    : options_(std::move(options)),
      end_now_(std::move(end_now)),
      on_stop_(options_.stop,
               [this] {
                 const MutexLock lock(mutex_);
                 told_to_stop_ = SteadyNow();
                 changed_.NotifyAll();
               }),
      thread_([this](const std::stop_token& in_time) { Watch(in_time); }) {}

ProcessEnd::~ProcessEnd() = default;

void ProcessEnd::Decided(const Result<int>& outcome) {
  const MutexLock lock(mutex_);
  if (outcome_) return;
  outcome_ = outcome;
  decided_ = SteadyNow();
  changed_.NotifyAll();
}

SteadyTime ProcessEnd::Deadline(SteadyTime decided) const {
  const SteadyTime deadline = decided + options_.patience;
  if (!told_to_stop_) return deadline;
  return std::min(deadline, std::max(decided, *told_to_stop_ + options_.grace - kGraceReserve));
}

// Looks now and then instead of being told of each work: a worker reads hundreds of batches a
// second.
void ProcessEnd::NameSlowWorks() {
  const SteadyTime now = SteadyNow();
  for (Work::Entry& work : works_) {
    if (work.named != Named::kWhenSlow || now < work.next_word) continue;
    work.next_word = now + kNextWord;
    work.warned = true;
    LogWarning("runtime", "this work takes long; waiting for it",
               {{"work", work.what}, {"seconds", InSeconds(now - work.since)}});
  }
}

void ProcessEnd::Watch(const std::stop_token& in_time) {
  Result<int> outcome = 0;
  {
    const MutexLock lock(mutex_);
    while (!in_time.stop_requested()) {
      if (!decided_) {
        NameSlowWorks();
        changed_.WaitUntil(mutex_, SteadyNow() + options_.look, in_time);
        continue;
      }
      const SteadyTime deadline = Deadline(*decided_);
      if (SteadyNow() >= deadline) break;
      changed_.WaitUntil(mutex_, deadline, in_time);
    }
    if (in_time.stop_requested()) return;
    for (const Work::Entry& work : works_) {
      LogWarning("runtime", "this work does not return; the process ends without it",
                 {{"work", work.what}, {"seconds", InSeconds(SteadyNow() - work.since)}});
    }
    LogWarning("runtime", "the process does not get to its end by itself; it is ended",
               {{"seconds_since_outcome", InSeconds(SteadyNow() - *decided_)}});
    outcome = *outcome_;
  }
  end_now_(outcome);
}

ProcessEnd::Work::Work(ProcessEnd* end, std::string what, Named named) : end_(end) {
  if (end_ == nullptr) return;
  const SteadyTime now = SteadyNow();
  const MutexLock lock(end_->mutex_);
  entry_ = end_->works_.insert(end_->works_.end(),
                               {std::move(what), now, named, now + end_->options_.slow});
}

ProcessEnd::Work::~Work() {
  if (end_ == nullptr) return;
  const MutexLock lock(end_->mutex_);
  if (entry_->warned) {
    LogInfo("runtime", "the work that took long has returned",
            {{"work", entry_->what}, {"seconds", InSeconds(SteadyNow() - entry_->since)}});
  }
  end_->works_.erase(entry_);
}

}  // namespace pstrain
