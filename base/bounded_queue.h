#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "base/mutex.h"

namespace pstrain {

/// A first-in first-out queue between any number of producers and consumers, at most `capacity`
/// items long. Any thread may call anything; the queue must outlive all calls.
///
///   state    Push             Pop                              Close        Stop
///   open     waits for room   waits for an item                -> closed    -> stopped
///   closed   false            the items left, then nullopt     -            -> stopped
///   stopped  false            nullopt (items are dropped)      -            -
template <typename T>
class BoundedQueue {
 public:
  /// REQUIRES: capacity > 0.
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}
  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  /// Waits for room. False, and the item is dropped, when the queue is closed or stopped.
  bool Push(T item) {
    {
      MutexLock lock(mutex_);
      while (!closed_ && items_.size() >= capacity_) room_.Wait(mutex_);
      if (closed_) return false;
      items_.push_back(std::move(item));
    }
    filled_.NotifyOne();
    return true;
  }

  /// Does not wait: false when full, closed or stopped, and then `item` is untouched.
  bool TryPush(T& item) {
    {
      MutexLock lock(mutex_);
      if (closed_ || items_.size() >= capacity_) return false;
      items_.push_back(std::move(item));
    }
    filled_.NotifyOne();
    return true;
  }

  /// Waits for an item; nullopt when the queue has ended.
  std::optional<T> Pop() {
    std::optional<T> item;
    {
      MutexLock lock(mutex_);
      while (!closed_ && items_.empty()) filled_.Wait(mutex_);
      item = TakeFront();
    }
    if (item) room_.NotifyOne();
    return item;
  }

  /// As Pop, but nullopt also when nothing came for `duration`; closed() tells them apart.
  std::optional<T> PopFor(std::chrono::nanoseconds duration) {
    const auto deadline = std::chrono::steady_clock::now() + duration;
    std::optional<T> item;
    {
      MutexLock lock(mutex_);
      while (!closed_ && items_.empty()) {
        if (!filled_.WaitUntil(mutex_, deadline)) break;
      }
      item = TakeFront();
    }
    if (item) room_.NotifyOne();
    return item;
  }

  /// An item if there is one now.
  std::optional<T> TryPop() {
    std::optional<T> item;
    {
      MutexLock lock(mutex_);
      item = TakeFront();
    }
    if (item) room_.NotifyOne();
    return item;
  }

  /// No more items come in; those inside may still be taken. Idempotent.
  void Close() { End(/*drop=*/false); }

  /// As Close, and the items inside are dropped (destroyed outside the lock). Idempotent.
  void Stop() { End(/*drop=*/true); }

  /// Closed or stopped.
  bool closed() const {
    MutexLock lock(mutex_);
    return closed_;
  }
  std::size_t size() const {
    MutexLock lock(mutex_);
    return items_.size();
  }
  std::size_t capacity() const { return capacity_; }

 private:
  std::optional<T> TakeFront() PSTRAIN_REQUIRES(mutex_) {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }

  void End(bool drop) {
    std::deque<T> dropped;
    {
      MutexLock lock(mutex_);
      closed_ = true;
      if (drop) dropped.swap(items_);
    }
    room_.NotifyAll();
    filled_.NotifyAll();
  }

  const std::size_t capacity_;
  mutable Mutex mutex_;
  CondVar room_;
  CondVar filled_;
  std::deque<T> items_ PSTRAIN_GUARDED_BY(mutex_);
  bool closed_ PSTRAIN_GUARDED_BY(mutex_) = false;
};

}  // namespace pstrain
