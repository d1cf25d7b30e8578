#include "runtime/shard/owner_thread.h"

#include <optional>
#include <utility>

#include "runtime/shard/shard_engine.h"

namespace pstrain {
namespace {

std::uint64_t Nanoseconds(std::chrono::nanoseconds duration) {
  return duration.count() < 0 ? 0 : static_cast<std::uint64_t>(duration.count());
}

}  // namespace

OwnerThread::OwnerThread(std::size_t queue_capacity, const Clock& clock, ShardEngineStats* stats)
    : clock_(clock), stats_(stats), queue_(queue_capacity), thread_([this] { Run(); }) {}

OwnerThread::~OwnerThread() {
  queue_.Close();
  thread_.join();
}

bool OwnerThread::Post(std::function<void()> task) {
  stats_->queue_length.fetch_add(1, std::memory_order_relaxed);
  if (queue_.Push({std::move(task), clock_.Now()})) return true;
  stats_->queue_length.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

void OwnerThread::Run() {
  while (std::optional<Task> task = queue_.Pop()) {
    const std::chrono::nanoseconds begin = clock_.Now();
    stats_->queue_length.fetch_sub(1, std::memory_order_relaxed);
    stats_->queue_ns.fetch_add(Nanoseconds(begin - task->posted), std::memory_order_relaxed);
    task->run();
    stats_->busy_ns.fetch_add(Nanoseconds(clock_.Now() - begin), std::memory_order_relaxed);
  }
}

}  // namespace pstrain
