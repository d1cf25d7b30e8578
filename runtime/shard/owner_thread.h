#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <thread>

#include "base/bounded_queue.h"
#include "base/clock.h"

namespace pstrain {

struct ShardEngineStats;

/// A thread that runs tasks one after the other in the order of their Post. That is all the locking
/// that a shard has: what one task does to it, no other sees half done. The queue is bounded, so
/// that workers who push faster than a ps applies are held back instead of filling its memory.
/// Owner: ShardEngine; Post from any thread.
class OwnerThread {
 public:
  /// `clock` and `stats` must outlive this.
  OwnerThread(std::size_t queue_capacity, const Clock& clock, ShardEngineStats* stats);
  /// Finishes what was posted, then joins.
  ~OwnerThread();
  OwnerThread(const OwnerThread&) = delete;
  OwnerThread& operator=(const OwnerThread&) = delete;

  /// Waits while the queue is full. False when the thread is ending; the task is dropped then.
  bool Post(std::function<void()> task);

 private:
  struct Task {
    std::function<void()> run;
    std::chrono::nanoseconds posted{};
  };
  void Run();

  const Clock& clock_;
  ShardEngineStats* const stats_;
  BoundedQueue<Task> queue_;
  std::jthread thread_;
};

}  // namespace pstrain
