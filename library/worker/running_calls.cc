#include "library/worker/running_calls.h"

#include <algorithm>
#include <utility>

#include "runtime/rpc/control_ids.h"

namespace pstrain {
namespace {

constexpr std::chrono::nanoseconds kNever = std::chrono::nanoseconds::max();

/// As it is told; zero: none.
std::chrono::nanoseconds DeadlineOf(const Grant& grant) {
  using std::chrono::milliseconds;
  const auto most = static_cast<std::uint64_t>(milliseconds(RunningCalls::kMostDeadline).count());
  return milliseconds(std::min<std::uint64_t>(grant.deadline_ms(), most));
}

}  // namespace

RunningCalls::Slot RunningCalls::AddSlot() {
  const MutexLock lock(mutex_);
  slots_.try_emplace(next_);
  return next_++;
}

void RunningCalls::Begin(Slot slot, const Grant& grant, std::uint64_t place) {
  const MutexLock lock(mutex_);
  Running& running = slots_.at(slot);
  running = {};
  running.grant = &grant;
  running.place = place;
  running.deadline = DeadlineOf(grant);
  running.since = clock_.Now();
  running.stop = std::stop_source();
  if (leave_at_) stops_.push_back(running.stop);
  Nudge(leave_at_ ? Time::min() : NextOf(running));
}

std::stop_token RunningCalls::StopToken(Slot slot) const {
  const MutexLock lock(mutex_);
  return slots_.at(slot).stop.get_token();
}

// Of what was given up the clock is not asked: it may have gone.
bool RunningCalls::BeginRead(Slot slot) {
  const MutexLock lock(mutex_);
  Running& running = slots_.at(slot);
  if (running.given_up) return false;
  running.spent = SpentBy(running, clock_.Now());
  running.reading = true;
  return true;
}

bool RunningCalls::EndRead(Slot slot) {
  const MutexLock lock(mutex_);
  Running& running = slots_.at(slot);
  running.reading = false;
  running.since = clock_.Now();
  Nudge(NextOf(running));
  return !running.given_up;
}

bool RunningCalls::GiveBack(Slot slot) {
  const MutexLock lock(mutex_);
  Running& running = slots_.at(slot);
  if (std::exchange(running.given_up, true)) return false;
  running.hangs_after = 2 * (running.deadline > Time(0) ? running.deadline : Time(kMostDeadline));
  stops_.push_back(running.stop);
  changed_.NotifyAll();
  return true;
}

RunningCalls::Outcome RunningCalls::Returned(Slot slot) {
  const MutexLock lock(mutex_);
  Running& running = slots_.at(slot);
  running.grant = nullptr;
  if (running.written_off) return Outcome::kWrittenOff;
  return running.given_up ? Outcome::kGivenUp : Outcome::kCounts;
}

bool RunningCalls::WrittenOff(Slot slot) const {
  const MutexLock lock(mutex_);
  return slots_.at(slot).written_off;
}

void RunningCalls::Ended(Slot slot) {
  const MutexLock lock(mutex_);
  slots_.erase(slot);
  changed_.NotifyAll();
}

// An attempt of the same call that was given up may still run beside it.
RunningCalls::Running* RunningCalls::Find(WorkId work_id) {
  for (auto& [slot, running] : slots_) {
    const bool runs = running.grant != nullptr && !running.given_up;
    if (runs && FromWire(running.grant->work_id()) == work_id) return &running;
  }
  return nullptr;
}

void RunningCalls::Stop(WorkId work_id) {
  const MutexLock lock(mutex_);
  Running* const running = Find(work_id);
  if (running == nullptr || std::exchange(running->stopped, true)) return;
  stops_.push_back(running->stop);
  changed_.NotifyAll();
}

void RunningCalls::GiveUp(WorkId work_id) {
  const MutexLock lock(mutex_);
  Running* const running = Find(work_id);
  if (running == nullptr) return;
  running->cancelled = true;
  changed_.NotifyAll();
}

void RunningCalls::Leave(std::chrono::nanoseconds bound) {
  const MutexLock lock(mutex_);
  if (leave_at_) return;
  leave_at_ = clock_.Now() + bound;
  for (auto& [slot, running] : slots_) {
    if (running.grant != nullptr) stops_.push_back(running.stop);
  }
  changed_.NotifyAll();
}

std::size_t RunningCalls::hanging() const {
  const MutexLock lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(slots_, [](const auto& slot) {
    return slot.second.written_off && slot.second.grant != nullptr;
  }));
}

// Invariant: what a read is about to give back to the chief is not given up beside it.
std::optional<RunningCalls::Why> RunningCalls::WhyGivenUp(const Running& running, Time now) const {
  if (running.reading || running.given_up) return std::nullopt;
  if (running.cancelled) return Why::kCancelled;
  if (running.deadline > Time(0) && SpentBy(running, now) >= running.deadline) return Why::kMissed;
  if (leave_at_ && now >= *leave_at_) return Why::kLeft;
  return std::nullopt;
}

// Invariant: `grant` is the thread's, which waits in Returned for what reads it here.
void RunningCalls::Look(Slot slot, Running& running, Time now, News* news) {
  if (running.grant == nullptr || running.written_off) return;
  const std::optional<Why> why = WhyGivenUp(running, now);
  if (why) {
    running.given_up = true;
    running.hangs_after =
        *why == Why::kMissed ? 2 * running.deadline : SpentBy(running, now) + Time(kCourtesy);
    GivenUp& given_up = news->given_up.emplace_back();
    *given_up.grant.mutable_work_id() = running.grant->work_id();
    given_up.grant.set_kind(running.grant->kind());
    given_up.grant.set_chief_term(running.grant->chief_term());
    given_up.place = running.place;
    given_up.why = *why;
    news->stops.push_back(running.stop);
  }
  if (!running.given_up || running.reading) return;
  const bool left = leave_at_ && now >= *leave_at_;
  if (!left && SpentBy(running, now) < running.hangs_after) return;
  running.written_off = true;
  news->hanging.push_back({slot, *running.grant, SpentBy(running, now)});
}

RunningCalls::News RunningCalls::NewsNow() {
  News news;
  const Time now = clock_.Now();
  news.stops = std::exchange(stops_, {});
  bool over = leave_at_.has_value();
  for (auto& [slot, running] : slots_) {
    Look(slot, running, now, &news);
    over = over && running.written_off;
  }
  news.over = over && !std::exchange(said_over_, over);
  return news;
}

RunningCalls::News RunningCalls::TakeNews() {
  const MutexLock lock(mutex_);
  return NewsNow();
}

RunningCalls::Time RunningCalls::NextOf(const Running& running) const {
  if (running.grant == nullptr || running.written_off || running.reading) return kNever;
  if (running.cancelled && !running.given_up) return Time::min();
  const Time leaves = leave_at_.value_or(kNever);
  const Time most = running.given_up ? running.hangs_after : running.deadline;
  if (most == Time(0)) return leaves;
  return std::min(leaves, running.since + (most - running.spent));
}

RunningCalls::News RunningCalls::Wait() {
  const MutexLock lock(mutex_);
  while (true) {
    News news = NewsNow();
    if (news.any()) {
      wakes_at_ = Time::min();
      return news;
    }
    wakes_at_ = kNever;
    for (const auto& [slot, running] : slots_) wakes_at_ = std::min(wakes_at_, NextOf(running));
    if (wakes_at_ == kNever) {
      changed_.Wait(mutex_);
    } else {
      changed_.WaitUntil(mutex_, SteadyTime(wakes_at_));
    }
  }
}

}  // namespace pstrain
