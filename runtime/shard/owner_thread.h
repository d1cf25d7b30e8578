#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <thread>

#include "base/bounded_queue.h"
#include "base/clock.h"

namespace pstrain {

struct ShardEngineStats;

/// A thread that runs tasks in order. Owner: ShardEngine; Post from any thread.
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
