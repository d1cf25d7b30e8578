#include "tests/runtime/simulation/scheduler.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace pstrain::simulation {
namespace {

constexpr std::size_t kStackBytes = 512 << 10;
constexpr std::size_t kGuardBytes = 4096;

char* NewStack() {
  void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, kGuardBytes, PROT_NONE) != 0) {
    std::perror("a fiber's stack");
    std::abort();
  }
  return static_cast<char*>(memory);
}

}  // namespace

Scheduler* Scheduler::running_ = nullptr;

Scheduler::Scheduler(std::uint64_t seed) : random_(seed) {
  constexpr std::uint64_t kYields[] = {8, 64, 1'000'000};
  yields_one_in_ = kYields[random_.Uniform(std::size(kYields))];
}

Scheduler::~Scheduler() {
  for (char* stack : free_stacks_) munmap(stack, kStackBytes);
}

void Scheduler::At(Time when, std::function<void()> event) {
  timers_.push({std::max(when, now_), next_order_++, nullptr, 0, std::move(event)});
}

std::uint64_t Scheduler::Start(Process process, std::function<void()> body) {
  auto fiber = std::make_unique<Fiber>();
  fiber->number = next_number_++;
  fiber->process = process;
  fiber->body = std::move(body);
  if (free_stacks_.empty()) free_stacks_.push_back(NewStack());
  fiber->stack = free_stacks_.back();
  free_stacks_.pop_back();
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack;
  fiber->context.uc_stack.ss_size = kStackBytes;
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, &Scheduler::Enter, 0);
  ready_.push_back(fiber.get());
  const std::uint64_t number = fiber->number;
  fibers_[number] = std::move(fiber);
  return number;
}

void Scheduler::Enter() {
  Scheduler& scheduler = *running_;
  scheduler.current_->body();
  scheduler.current_->body = nullptr;
  scheduler.current_->waits_on = &scheduler;  // never woken: it has ended
  swapcontext(&scheduler.current_->context, &scheduler.main_);
  std::abort();
}

void Scheduler::End(Fiber* fiber) {
  free_stacks_.push_back(fiber->stack);
  const std::uint64_t number = fiber->number;
  // Join waits for the fiber's address.
  Wake(fiber);
  fibers_.erase(number);
}

void Scheduler::SwitchTo(Fiber* fiber) {
  ++switches_;
  current_ = fiber;
  running_ = this;
  swapcontext(&main_, &fiber->context);
  running_ = nullptr;
  current_ = nullptr;
  if (fiber->waits_on == this) End(fiber);
}

void Scheduler::Leave() { swapcontext(&current_->context, &main_); }

void Scheduler::Run(const std::function<bool()>& over) {
  while (!over()) {
    FireTimers();
    if (ready_.empty()) {
      if (timers_.empty()) return;
      now_ = std::max(now_, timers_.top().when);
      continue;
    }
    std::swap(ready_[random_.Uniform(ready_.size())], ready_.back());
    Fiber* fiber = ready_.back();
    ready_.pop_back();
    if (!Alive(*fiber)) continue;
    const auto paused = paused_.find(fiber->process);
    if (paused != paused_.end()) {
      paused->second.push_back(fiber);
    } else {
      SwitchTo(fiber);
    }
  }
}

void Scheduler::FireTimers() {
  while (!timers_.empty() && timers_.top().when <= now_) {
    const Timer timer = timers_.top();
    timers_.pop();
    if (timer.fiber == nullptr) {
      timer.event();
      continue;
    }
    // A fiber that has ended is not waiting with that number: its memory may be another's.
    const auto found = fibers_.find(timer.wait >> 24);
    if (found == fibers_.end() || found->second->wait != timer.wait) continue;
    Fiber* fiber = found->second.get();
    if (fiber->waits_on == nullptr) continue;
    const auto waiters = waiters_.find(fiber->waits_on);
    if (waiters != waiters_.end()) {
      std::erase(waiters->second, fiber);
      if (waiters->second.empty()) waiters_.erase(waiters);
    }
    Ready(fiber, false);
  }
}

void Scheduler::Ready(Fiber* fiber, bool woken) {
  fiber->waits_on = nullptr;
  fiber->woken = woken;
  ready_.push_back(fiber);
}

void Scheduler::Kill(Process process) {
  killed_.insert(process);
  paused_.erase(process);
}

void Scheduler::Pause(Process process) { paused_[process]; }

void Scheduler::Resume(Process process) {
  const auto paused = paused_.extract(process);
  if (paused.empty()) return;
  ready_.insert(ready_.end(), paused.mapped().begin(), paused.mapped().end());
}

void Scheduler::Join(std::uint64_t fiber) {
  const auto found = fibers_.find(fiber);
  if (found != fibers_.end()) Wait(found->second.get(), kNever);
}

void Scheduler::Yield() {
  ready_.push_back(current_);
  Leave();
}

void Scheduler::MayYield() {
  if (Chance(yields_one_in_)) Yield();
}

bool Scheduler::Wait(const void* on, Time until) {
  Fiber* const fiber = current_;
  // The number of the fiber and of its wait in one: what a timer can look up.
  fiber->wait = fiber->wait == 0 ? fiber->number << 24 : fiber->wait + 1;
  fiber->waits_on = on;
  if (on != &sleepers_) waiters_[on].push_back(fiber);
  if (until != kNever) timers_.push({until, next_order_++, fiber, fiber->wait, nullptr});
  Leave();
  return fiber->woken;
}

void Scheduler::Wake(const void* on, std::size_t most) {
  const auto found = waiters_.find(on);
  if (found == waiters_.end()) return;
  std::deque<Fiber*>& waiting = found->second;
  for (; most > 0 && !waiting.empty(); --most) {
    Fiber* fiber = waiting.front();
    waiting.pop_front();
    Ready(fiber, true);
  }
  if (waiting.empty()) waiters_.erase(found);
}

}  // namespace pstrain::simulation
