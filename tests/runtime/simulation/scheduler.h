#pragma once

#include <ucontext.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/random.h"

namespace pstrain::simulation {

/// Since the simulation has begun.
using Time = std::chrono::nanoseconds;
inline constexpr Time kNever = Time::max();

/// A simulated process: what is killed or paused as one. 0 is nobody.
using Process = std::uint32_t;

/// Runs the threads of simulated processes as fibers on the one thread that calls Run: one at a
/// time, each until it blocks, in an order that the seed chooses; time is simulated and passes
/// while nobody can run. posix_calls.cc makes the product's own threads, mutexes, condition
/// variables and clocks such fibers and waits, so the product runs unchanged. As in FoundationDB's
/// simulation (Zhou et al., SIGMOD 2021). What a killed process has on its stacks is never
/// destroyed: a seed runs in a process of its own (seed_process.h). One thread.
class Scheduler {
 public:
  explicit Scheduler(std::uint64_t seed);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  /// The scheduler whose fiber the caller is; null for anybody else.
  static Scheduler* OfCaller() { return running_; }

  Rng& random() { return random_; }
  bool Chance(std::uint64_t one_in) { return random_.Uniform(one_in) == 0; }
  Time now() const { return now_; }
  /// As a clock is read: a little later each time, so that who polls a clock gets on.
  Time ReadClock() { return now_ += Time(100); }

  /// Runs until `over`, or until nobody can ever run again.
  void Run(const std::function<bool()>& over);
  /// Calls an event on the scheduler's own stack: it must not block.
  void At(Time when, std::function<void()> event);

  /// The new thread's number, above 0.
  std::uint64_t Start(Process process, std::function<void()> body);
  void Kill(Process process);
  void Pause(Process process);
  void Resume(Process process);
  bool IsPaused(Process process) const { return paused_.contains(process); }

  // For fibers.

  std::uint64_t self() const { return current_->number; }
  Process process() const { return current_ == nullptr ? 0 : current_->process; }
  void Join(std::uint64_t fiber);
  void Yield();
  /// With the chance that the seed has chosen.
  void MayYield();
  void SleepFor(Time duration) { Wait(&sleepers_, now_ + duration); }
  /// Until somebody calls Wake(on): true. False when the time has come.
  bool Wait(const void* on, Time until);
  /// Anybody may call it. Wakes those that have waited longest, `most` of them.
  void Wake(const void* on, std::size_t most = SIZE_MAX);

  /// How often a fiber was switched to.
  std::uint64_t switches() const { return switches_; }

 private:
  struct Fiber {
    std::uint64_t number = 0;
    Process process = 0;
    std::function<void()> body;
    ucontext_t context{};
    char* stack = nullptr;
    /// What it waits for; null: it can run. Each wait has its number.
    const void* waits_on = nullptr;
    std::uint64_t wait = 0;
    bool woken = false;
  };
  struct Timer {
    Time when;
    std::uint64_t order;
    /// A fiber's wait, or else an event.
    Fiber* fiber;
    std::uint64_t wait;
    std::function<void()> event;
    bool operator>(const Timer& other) const {
      return when != other.when ? when > other.when : order > other.order;
    }
  };

  static void Enter();
  bool Alive(const Fiber& fiber) const { return !killed_.contains(fiber.process); }
  void SwitchTo(Fiber* fiber);
  /// Gives the processor back.
  void Leave();
  void FireTimers();
  void Ready(Fiber* fiber, bool woken);
  void End(Fiber* fiber);

  static Scheduler* running_;
  Rng random_;
  std::uint64_t yields_one_in_;
  Time now_{0};
  ucontext_t main_{};
  Fiber* current_ = nullptr;
  std::uint64_t next_number_ = 1;
  std::uint64_t next_order_ = 0;
  std::uint64_t switches_ = 0;
  std::vector<Fiber*> ready_;
  std::unordered_map<const void*, std::deque<Fiber*>> waiters_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Fiber>> fibers_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::set<Process> killed_;
  /// And those of its fibers that could run.
  std::map<Process, std::vector<Fiber*>> paused_;
  std::vector<char*> free_stacks_;
  char sleepers_ = 0;
};

}  // namespace pstrain::simulation
