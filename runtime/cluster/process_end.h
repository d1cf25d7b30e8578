#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"

namespace pstrain {

/// Lets a process end whose disk hangs. A thread that waits in a system call cannot be joined, so
/// once the outcome of a role is decided, the process gets a limited time to destroy what is left.
/// After that the log says which work does not return, and the process is ended with its outcome
/// (docs/design/process-end.md). Until then a work that takes long is named in the log, again each
/// minute, and once it has returned: what waits for it says nothing itself.
/// Owner: main, which has one; outlives the role. Any thread.
class ProcessEnd {
 public:
  /// Ends the process without destroying anything; called once, on a thread of its own.
  using EndNow = std::function<void(const Result<int>& outcome)>;

  struct Options {
    /// From the decision to EndNow.
    std::chrono::nanoseconds patience = std::chrono::seconds(10);
    /// From SIGTERM to SIGKILL: the exit code has to be out a second before that.
    std::chrono::nanoseconds grace = std::chrono::seconds(30);
    /// A work is named that takes longer, at the first look after that.
    std::chrono::nanoseconds slow = std::chrono::seconds(10);
    std::chrono::nanoseconds look = std::chrono::seconds(1);
    /// Requested when the process is told to stop.
    std::stop_token stop{};
  };

  ProcessEnd(Options options, EndNow end_now);
  /// The process ends in time.
  ~ProcessEnd();
  ProcessEnd(const ProcessEnd&) = delete;
  ProcessEnd& operator=(const ProcessEnd&) = delete;

  /// What the role will return. REQUIRES: the final numbers are on the stats page, and what states
  /// a failure is written. Only the first call counts.
  void Decided(const Result<int>& outcome) PSTRAIN_EXCLUDES(mutex_);

  /// When the log names a work.
  enum class Named : std::uint8_t {
    kWhenSlow,
    kAtTheEnd,  // somebody else watches how long it takes
  };
  /// A work that may not return, for the log; lives as long as it lasts.
  class Work {
   public:
    /// `end`: null where nobody ends the process; else outlives it.
    Work(ProcessEnd* end, std::string what, Named named = Named::kWhenSlow);
    ~Work();
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

   private:
    struct Entry {
      std::string what;
      SteadyTime since;
      Named named;
      SteadyTime next_word;
      bool warned = false;
    };
    friend class ProcessEnd;

    ProcessEnd* const end_;
    std::list<Entry>::iterator entry_;
  };

 private:
  void Watch(const std::stop_token& in_time) PSTRAIN_EXCLUDES(mutex_);
  void NameSlowWorks() PSTRAIN_REQUIRES(mutex_);
  /// When the patience is over.
  SteadyTime Deadline(SteadyTime decided) const PSTRAIN_REQUIRES(mutex_);

  const Options options_;
  const EndNow end_now_;
  Mutex mutex_;
  CondVar changed_;
  std::list<Work::Entry> works_ PSTRAIN_GUARDED_BY(mutex_);
  std::optional<SteadyTime> told_to_stop_ PSTRAIN_GUARDED_BY(mutex_);
  std::optional<Result<int>> outcome_ PSTRAIN_GUARDED_BY(mutex_);
  std::optional<SteadyTime> decided_ PSTRAIN_GUARDED_BY(mutex_);
  std::stop_callback<std::function<void()>> on_stop_;
  std::jthread thread_;
};

}  // namespace pstrain
