#include "runtime/chief/peers/work_waiters.h"

#include <utility>

namespace pstrain {

void WorkWaiters::Add(const AwaitWorkRequest& request, ProtocolTime now, Done done) {
  if (closed_) return done();
  const auto [arrival, first] = arrivals_.try_emplace(request.index(), 0);
  if (!first) waiting_.extract(arrival->second).mapped().done();
  arrival->second = ++last_arrival_;
  waiting_[last_arrival_] = {request.index(), request.membership_seen(), request.want(), now,
                             std::move(done)};
}

void WorkWaiters::Tell(const News& news, ProtocolTime now) {
  std::uint64_t open = news.open;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto waiter = next++;
    const Waiter& who = waiter->second;
    const bool kept = who.want && news.kept && news.kept(who.worker);
    const bool work = kept || (who.want && open > 0);
    if (work && !kept) --open;
    if (!work && !news.ending && news.membership <= who.membership_seen &&
        now - who.since < kLongest) {
      continue;
    }
    who.done();
    arrivals_.erase(who.worker);
    waiting_.erase(waiter);
  }
}

void WorkWaiters::Close() {
  closed_ = true;
  for (const auto& [arrival, waiter] : std::exchange(waiting_, {})) waiter.done();
  arrivals_.clear();
}

}  // namespace pstrain
