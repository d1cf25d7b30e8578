#pragma once

#include <cstddef>
#include <deque>
#include <utility>

#include "runtime/chief/disk/disk.h"

namespace pstrain::chief_test {

/// Does the chief's work on files immediately, or, while it is paused, when told to.
class PausableDisk final : public Disk {
 public:
  void Post(const char*, Work work) override {
    posted_.push_back(std::move(work));
    if (!paused_) Release();
  }
  void Pause() { paused_ = true; }
  void Release() {
    paused_ = false;
    while (!posted_.empty()) {
      const Work work = std::move(posted_.front());
      posted_.pop_front();
      work()();
    }
  }
  std::size_t waiting() const { return posted_.size(); }

 private:
  bool paused_ = false;
  std::deque<Work> posted_;
};

}  // namespace pstrain::chief_test
