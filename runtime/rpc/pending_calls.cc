#include "runtime/rpc/pending_calls.h"

#include <vector>

#include "base/clock.h"

namespace pstrain {

PendingCalls::PendingCalls() : thread_([this](const std::stop_token& stop) { ExpireLoop(stop); }) {}

PendingCalls::~PendingCalls() = default;

std::uint64_t PendingCalls::NewGroup() {
  MutexLock lock(mutex_);
  return next_++;
}

std::uint64_t PendingCalls::Add(std::uint64_t group, TimePoint deadline, ReplyCallback callback) {
  bool earlier;
  std::uint64_t id;
  {
    MutexLock lock(mutex_);
    id = next_++;
    calls_.emplace(id, Call{group, deadline, std::move(callback)});
    deadlines_.emplace(deadline, id);
    earlier = deadline < wakes_at_;
  }
  if (earlier) earlier_deadline_.NotifyOne();
  return id;
}

bool PendingCalls::Contains(std::uint64_t id) const {
  MutexLock lock(mutex_);
  return calls_.contains(id);
}

PendingCalls::Call PendingCalls::Take(std::uint64_t id) {
  const auto it = calls_.find(id);
  Call call = std::move(it->second);
  calls_.erase(it);
  deadlines_.erase({call.deadline, id});
  ++running_[call.group];
  return call;
}

void PendingCalls::Run(Call call, Result<Bytes> reply) {
  call.callback(std::move(reply));
  // Who waits for the group may destroy what the callback refers to: let go of it first.
  call.callback = nullptr;
  {
    MutexLock lock(mutex_);
    const auto it = running_.find(call.group);
    if (--it->second > 0) return;
    running_.erase(it);
  }
  idle_.NotifyAll();
}

bool PendingCalls::Complete(std::uint64_t group, std::uint64_t id, Result<Bytes> reply) {
  Call call;
  {
    MutexLock lock(mutex_);
    const auto it = calls_.find(id);
    if (it == calls_.end() || it->second.group != group) return false;
    call = Take(id);
  }
  Run(std::move(call), std::move(reply));
  return true;
}

void PendingCalls::FailGroup(std::uint64_t group, const Status& status) {
  std::vector<Call> calls;
  {
    MutexLock lock(mutex_);
    std::vector<std::uint64_t> ids;
    for (const auto& [id, call] : calls_) {
      if (call.group == group) ids.push_back(id);
    }
    for (const std::uint64_t id : ids) calls.push_back(Take(id));
  }
  for (Call& call : calls) Run(std::move(call), status);
}

void PendingCalls::WaitIdle(std::uint64_t group) {
  MutexLock lock(mutex_);
  while (running_.contains(group)) idle_.Wait(mutex_);
}

void PendingCalls::ExpireLoop(const std::stop_token& stop) {
  while (true) {
    Call call;
    {
      MutexLock lock(mutex_);
      while (!stop.stop_requested()) {
        wakes_at_ = deadlines_.empty() ? TimePoint::max() : deadlines_.begin()->first;
        if (wakes_at_ <= SteadyNow()) break;
        earlier_deadline_.WaitUntil(mutex_, wakes_at_, stop);
      }
      if (stop.stop_requested()) return;
      call = Take(deadlines_.begin()->second);
    }
    Run(std::move(call), DeadlineExceededError("no reply before the deadline"));
  }
}

}  // namespace pstrain
