#pragma once

#include <stop_token>
#include <thread>
#include <utility>

#include "operator/controller/store.h"
#include "operator/controller/watcher.h"

namespace pstrain::kube {

/// A Store that is kept up to date by a Watcher on a thread of its own, from the constructor to the
/// destructor. Owned by main.
template <typename T>
class Informer {
 public:
  Informer(ApiClient& client, Pause& pause, const Clock& clock, Resource resource,
           Watcher::Options watch, typename Store<T>::Options store)
      : store_(std::move(store)),
        watcher_(client, pause, clock, std::move(resource), std::move(watch), store_),
        thread_([this](const std::stop_token& stop) { watcher_.Run(stop); }) {}

  const Store<T>& store() const { return store_; }
  Watcher& watcher() { return watcher_; }
  const Watcher& watcher() const { return watcher_; }

  /// Asks the thread to end; the destructor waits for it.
  void RequestStop() { thread_.request_stop(); }

 private:
  Store<T> store_;
  Watcher watcher_;
  std::jthread thread_;
};

}  // namespace pstrain::kube
