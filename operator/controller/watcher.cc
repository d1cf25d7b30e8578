#include "operator/controller/watcher.h"

#include <utility>

#include "base/log.h"

namespace pstrain::kube {
namespace {

/// Two watchers of one program shall not draw the same times.
Backoff::Options Seeded(Backoff::Options options, std::uint64_t seed) {
  options.seed = Mix64(options.seed, seed);
  return options;
}

}  // namespace

Watcher::Watcher(ApiClient& client, Pause& pause, const Clock& clock, Resource resource,
                 Options options, WatchHandler& handler)
    : client_(client),
      pause_(pause),
      clock_(clock),
      resource_(std::move(resource)),
      options_(std::move(options)),
      handler_(handler),
      backoff_(Seeded(options_.pauses, options_.seed)),
      rng_(options_.seed) {}

void Watcher::Run(const std::stop_token& stop) {
  std::string resource_version;
  while (!stop.stop_requested()) {
    resource_version =
        resource_version.empty() ? ListOnce(stop) : WatchOnce(std::move(resource_version), stop);
  }
}

std::string Watcher::ListOnce(const std::stop_token& stop) {
  handler_.OnListBegin();
  const ListOptions options{options_.selection, options_.page_size};
  const ApiResult<ListEnd> end = client_.List(
      resource_, options,
      [this](const Json& object) {
        handler_.OnListed(object);
        return OkStatus();
      },
      stop);
  if (!end.ok()) {
    // A continue token that expired on the way: the next list may be quicker.
    PauseAfter(end.error(), stop);
    return {};
  }
  handler_.OnListEnd();
  const MutexLock lock(mutex_);
  ++counts_.lists;
  synced_ = true;
  changed_.NotifyAll();
  return end->resource_version;
}

std::string Watcher::WatchOnce(std::string resource_version, const std::stop_token& stop) {
  WatchOptions options;
  options.selection = options_.selection;
  options.resource_version = std::move(resource_version);
  const auto spread = options_.longest_watch - options_.shortest_watch;
  options.lifetime =
      options_.shortest_watch +
      std::chrono::seconds(rng_.Uniform(static_cast<std::uint64_t>(spread.count()) + 1));
  {
    const MutexLock lock(mutex_);
    ++counts_.watches;
  }
  WatchEnd end = Watch(
      client_, resource_, options,
      [this](const WatchEvent& event) {
        if (event.type == WatchEventType::kBookmark) return OkStatus();
        if (event.type == WatchEventType::kDeleted) {
          handler_.OnDeleted(event.object);
        } else {
          handler_.OnApplied(event.object);
        }
        const MutexLock lock(mutex_);
        ++counts_.events;
        return OkStatus();
      },
      stop);
  if (!end.error) {
    const MutexLock lock(mutex_);
    ++counts_.ended;
    return std::move(end.resource_version);
  }
  if (end.error->status.code() == StatusCode::kOutOfRange) {
    LogInfo("cache", "the resource version has expired; listing again",
            {{"resource", resource_.Name()}});
    const MutexLock lock(mutex_);
    ++counts_.expired;
    return {};
  }
  const bool unreadable = end.error->status.code() == StatusCode::kDataLoss;
  PauseAfter(*end.error, stop);
  // The same event would come again, and be as unreadable.
  return unreadable ? std::string() : std::move(end.resource_version);
}

void Watcher::PauseAfter(const ApiError& error, const std::stop_token& stop) {
  if (stop.stop_requested()) return;
  const std::chrono::nanoseconds now = clock_.Now();
  if (now - last_failure_ >= options_.healthy_after) backoff_.Reset();
  last_failure_ = now;
  std::chrono::nanoseconds wait = backoff_.Next();
  if (error.retry_after && *error.retry_after > wait) wait = *error.retry_after;
  LogWarning("cache", "list or watch failed; retrying",
             {{"resource", resource_.Name()},
              {"error", error.status},
              {"retry_in_s", std::chrono::duration<double>(wait).count()}});
  {
    const MutexLock lock(mutex_);
    ++counts_.failures;
  }
  pause_.For(wait, stop);
}

bool Watcher::HasSynced() const {
  const MutexLock lock(mutex_);
  return synced_;
}

bool Watcher::WaitForCacheSync(const std::stop_token& stop) {
  const MutexLock lock(mutex_);
  while (!synced_ && !stop.stop_requested()) changed_.Wait(mutex_, stop);
  return synced_;
}

WatcherCounts Watcher::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

}  // namespace pstrain::kube
