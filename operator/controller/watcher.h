#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/text/json.h"
#include "operator/kube/api_client.h"
#include "operator/kube/watch.h"

namespace pstrain::kube {

/// Hears what a Watcher sees, always on the watcher's thread.
class WatchHandler {
 public:
  virtual ~WatchHandler() = default;
  /// A list begins; it replaces everything known, but only at OnListEnd.
  virtual void OnListBegin() = 0;
  virtual void OnListed(const Json& object) = 0;
  virtual void OnListEnd() = 0;
  /// One object was added or changed, or is gone; between lists.
  virtual void OnApplied(const Json& object) = 0;
  virtual void OnDeleted(const Json& object) = 0;
};

/// What a watcher has done since its start, for metrics.
struct WatcherCounts {
  std::int64_t lists = 0;     // completed
  std::int64_t watches = 0;   // opened
  std::int64_t events = 0;    // without bookmarks
  std::int64_t ended = 0;     // watches, without an error
  std::int64_t expired = 0;   // resource versions too old
  std::int64_t failures = 0;  // other errors, each followed by a pause
};

/// Keeps a WatchHandler up to date with one kind of object: list, then watch, for ever. Owned with
/// its thread by an Informer; Run on one thread, the rest from any.
///
///   state    | done                  | 410, Expired       | another error
///   listing  | watching              | listing            | listing, after a pause
///   watching | watching, from the last version | listing  | watching, after a pause
///
/// The pause doubles from 0.8 s to 30 s with jitter and starts again after 120 s without error.
/// A watch is asked for a random 240 to 300 s; the transport ends one that is silent for too long.
class Watcher {
 public:
  struct Options {
    Selection selection;
    int page_size = 500;
    std::chrono::seconds shortest_watch{240};
    std::chrono::seconds longest_watch{300};
    Backoff::Options pauses = {.initial = std::chrono::milliseconds(800),
                               .cap = std::chrono::seconds(30),
                               .factor = 2.0,
                               .jitter = 0.5,
                               .seed = 0};
    std::chrono::nanoseconds healthy_after = std::chrono::seconds(120);
    std::uint64_t seed = 0;
  };

  /// None of the references is owned.
  Watcher(ApiClient& client, Pause& pause, const Clock& clock, Resource resource, Options options,
          WatchHandler& handler);
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  /// Blocks until `stop`.
  void Run(const std::stop_token& stop) PSTRAIN_EXCLUDES(mutex_);

  /// The first list is complete and with the handler. Never goes back.
  bool HasSynced() const PSTRAIN_EXCLUDES(mutex_);
  /// Waits for HasSynced(); false when `stop` comes first.
  bool WaitForCacheSync(const std::stop_token& stop) PSTRAIN_EXCLUDES(mutex_);

  WatcherCounts counts() const PSTRAIN_EXCLUDES(mutex_);
  const Resource& resource() const { return resource_; }

 private:
  /// The resource version to watch from; empty: list again.
  std::string ListOnce(const std::stop_token& stop);
  std::string WatchOnce(std::string resource_version, const std::stop_token& stop);
  void PauseAfter(const ApiError& error, const std::stop_token& stop);

  ApiClient& client_;
  Pause& pause_;
  const Clock& clock_;
  const Resource resource_;
  const Options options_;
  WatchHandler& handler_;
  Backoff backoff_;
  Rng rng_;
  std::chrono::nanoseconds last_failure_{0};
  mutable Mutex mutex_;
  CondVar changed_;
  bool synced_ PSTRAIN_GUARDED_BY(mutex_) = false;
  WatcherCounts counts_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::kube
