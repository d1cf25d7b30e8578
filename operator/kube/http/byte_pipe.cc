#include "operator/kube/http/byte_pipe.h"

#include <utility>

namespace pstrain::kube {

bool BytePipe::Put(std::string_view bytes, std::function<void()> on_room) {
  const MutexLock lock(mutex_);
  if (abandoned_) return true;
  bytes_.append(bytes);
  changed_.NotifyAll();
  if (bytes_.size() < capacity_) return true;
  on_room_ = std::move(on_room);
  return false;
}

void BytePipe::Close(Status end) {
  const MutexLock lock(mutex_);
  closed_ = true;
  end_ = std::move(end);
  changed_.NotifyAll();
}

Result<std::string> BytePipe::Take(std::chrono::steady_clock::time_point deadline,
                                   const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] {
    const MutexLock lock(mutex_);
    changed_.NotifyAll();
  });
  std::string taken;
  std::function<void()> on_room;
  {
    const MutexLock lock(mutex_);
    while (bytes_.empty() && !closed_ && !stop.stop_requested()) {
      if (!changed_.WaitUntil(mutex_, deadline)) break;
    }
    if (stop.stop_requested()) return CancelledError("stopped");
    if (bytes_.empty() && !closed_) return DeadlineExceededError("the reply took too long");
    if (bytes_.empty() && !end_.ok()) return end_;
    taken.swap(bytes_);
    on_room.swap(on_room_);
  }
  if (on_room) on_room();
  return taken;
}

void BytePipe::Leave() {
  std::function<void()> on_room;
  {
    const MutexLock lock(mutex_);
    abandoned_ = true;
    bytes_.clear();
    on_room.swap(on_room_);
  }
  if (on_room) on_room();
}

}  // namespace pstrain::kube
