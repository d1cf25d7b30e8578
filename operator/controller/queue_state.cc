#include "operator/controller/queue_state.h"

#include <algorithm>

namespace pstrain::kube {

QueueState::Request QueueState::Earlier(const Request& a, const Request& b) {
  return {std::min(a.due, b.due), std::min(a.priority, b.priority)};
}

void QueueState::Enqueue(const ObjectKey& key, Request request) {
  const auto [at, is_new] = queued_.try_emplace(key, request);
  if (!is_new) {
    order_.erase({at->second.priority, at->second.due, key});
    at->second = Earlier(at->second, request);
  }
  order_.insert({at->second.priority, at->second.due, key});
}

void QueueState::Add(const ObjectKey& key, Time due, Priority priority) {
  const auto working = working_.find(key);
  if (working == working_.end()) {
    Enqueue(key, {due, priority});
    return;
  }
  std::optional<Request>& kept = working->second;
  kept = kept ? Earlier(*kept, {due, priority}) : Request{due, priority};
}

std::optional<QueueState::Item> QueueState::Get(Time now) {
  // Within a priority the order is by time, so its first is due or none of it is.
  for (const Priority priority : {Priority::kNormal, Priority::kLow}) {
    const auto at = order_.lower_bound({priority, Time::min(), ObjectKey{}});
    if (at == order_.end() || std::get<0>(*at) != priority || std::get<1>(*at) > now) continue;
    Item taken{std::get<2>(*at), std::get<1>(*at)};
    order_.erase(at);
    queued_.erase(taken.key);
    working_.emplace(taken.key, std::nullopt);
    return taken;
  }
  return std::nullopt;
}

void QueueState::Done(const ObjectKey& key) {
  const auto at = working_.find(key);
  if (at == working_.end()) return;
  const std::optional<Request> kept = at->second;
  working_.erase(at);
  if (kept) Enqueue(key, *kept);
}

std::optional<QueueState::Time> QueueState::NextDue() const {
  std::optional<Time> next;
  for (const Priority priority : {Priority::kNormal, Priority::kLow}) {
    const auto at = order_.lower_bound({priority, Time::min(), ObjectKey{}});
    if (at == order_.end() || std::get<0>(*at) != priority) continue;
    if (!next || std::get<1>(*at) < *next) next = std::get<1>(*at);
  }
  return next;
}

QueueState::Time QueueState::NextBackoff(const ObjectKey& key) {
  const int failures = failures_[key]++;
  Time backoff = options_.first_backoff;
  for (int i = 0; i < failures && backoff < options_.longest_backoff; ++i) backoff *= 2;
  return std::min(backoff, options_.longest_backoff);
}

int QueueState::NumRequeues(const ObjectKey& key) const {
  const auto at = failures_.find(key);
  return at == failures_.end() ? 0 : at->second;
}

std::size_t QueueState::Depth(Time now) const {
  const auto due = std::count_if(order_.begin(), order_.end(),
                                 [now](const Entry& entry) { return std::get<1>(entry) <= now; });
  return static_cast<std::size_t>(due);
}

}  // namespace pstrain::kube
