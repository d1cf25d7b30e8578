#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "library/data/transforms.h"

namespace pstrain::program {
namespace {

constexpr std::int64_t kAutotune = -1;
/// What the library's own choice is.
constexpr std::uint64_t kOwnChoice = 8;
/// Workers share one order, so that one of them asks for every so many-th element; at most.
constexpr std::uint64_t kMostApart = 64;

/// Makes elements before they are asked for, by a thread of its own. Which ones come next it takes
/// from the distance of the last two that were asked for. It makes one ahead at first, twice as
/// many each time that it was right, up to the size of its buffer, and one again when it was wrong:
/// where others take the elements, little is made for nothing.
class Prefetched final : public DataNode {
 public:
  Prefetched(DataNodePtr from, std::uint64_t buffer)
      : from_(std::move(from)), buffer_(buffer), thread_([this] { Work(); }) {}
  ~Prefetched() override {
    {
      const MutexLock lock(mutex_);
      ends_ = true;
    }
    changed_.NotifyAll();
    thread_.join();
  }

  std::optional<std::uint64_t> size() const override { return from_->size(); }
  Result<std::optional<Element>> Get(std::uint64_t pass, std::uint64_t index) const override {
    if (const std::shared_ptr<Slot> slot = Take(pass, index); slot != nullptr) {
      const MutexLock lock(mutex_);
      while (!slot->made) changed_.Wait(mutex_);
      return *std::move(slot->made);
    }
    return from_->Get(pass, index);
  }

 private:
  /// An element that is made ahead.
  struct Slot {
    bool begun = false;
    std::optional<Result<std::optional<Element>>> made = std::nullopt;
  };

  /// The element, where the thread has begun it, and what to make next. Null: the caller makes it.
  std::shared_ptr<Slot> Take(std::uint64_t pass, std::uint64_t index) const
      PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (pass != pass_) {
      slots_.clear();
      last_.reset();
      pass_ = pass;
    }
    std::shared_ptr<Slot> slot;
    if (const auto found = slots_.find(index); found != slots_.end()) {
      if (found->second->begun) slot = found->second;
      slots_.erase(found);
      ahead_ = std::min(2 * ahead_, buffer_);
    } else if (!last_ || index > *last_) {
      slots_.clear();
      step_ = last_ && index - *last_ <= kMostApart ? index - *last_ : 1;
      ahead_ = 1;
    }
    last_ = std::max(last_.value_or(0), index);
    Plan();
    return slot;
  }
  void Plan() const PSTRAIN_REQUIRES(mutex_) {
    const std::uint64_t size = from_->size().value_or(kForever);
    for (std::uint64_t i = 1; i <= ahead_; ++i) {
      const std::uint64_t next = *last_ + i * step_;
      if (next >= size || next < *last_) break;
      std::shared_ptr<Slot>& slot = slots_[next];
      if (slot == nullptr) slot = std::make_shared<Slot>();
    }
    // Those that nobody has asked for when they were next.
    while (slots_.size() > buffer_) slots_.erase(slots_.begin());
    changed_.NotifyAll();
  }
  void Work() PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    while (!ends_) {
      const auto next =
          std::ranges::find_if(slots_, [](const auto& slot) { return !slot.second->begun; });
      if (next == slots_.end()) {
        changed_.Wait(mutex_);
        continue;
      }
      Make(pass_, next->first, next->second);
    }
  }
  void Make(std::uint64_t pass, std::uint64_t index, std::shared_ptr<Slot> slot)
      PSTRAIN_REQUIRES(mutex_) {
    slot->begun = true;
    mutex_.Unlock();
    Result<std::optional<Element>> made = from_->Get(pass, index);
    mutex_.Lock();
    slot->made = std::move(made);
    changed_.NotifyAll();
  }

  const DataNodePtr from_;
  const std::uint64_t buffer_;
  mutable Mutex mutex_;
  mutable CondVar changed_;
  bool ends_ PSTRAIN_GUARDED_BY(mutex_) = false;
  mutable std::uint64_t pass_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  mutable std::uint64_t step_ PSTRAIN_GUARDED_BY(mutex_) = 1;
  mutable std::uint64_t ahead_ PSTRAIN_GUARDED_BY(mutex_) = 1;
  /// The highest index of this pass that was asked for.
  mutable std::optional<std::uint64_t> last_ PSTRAIN_GUARDED_BY(mutex_);
  /// By index.
  mutable std::map<std::uint64_t, std::shared_ptr<Slot>> slots_ PSTRAIN_GUARDED_BY(mutex_);
  std::thread thread_;  // uses all of the above
};

}  // namespace

Result<DataNodePtr> OpenPrefetch(DataNodePtr from, std::int64_t buffer_size) {
  if (buffer_size < kAutotune) {
    return InvalidArgumentError("Prefetch: the buffer size is " + std::to_string(buffer_size) +
                                ", and has to be at least 0, or -1 for the library's choice");
  }
  if (buffer_size == 0) return from;
  const std::uint64_t buffer =
      buffer_size == kAutotune ? kOwnChoice : static_cast<std::uint64_t>(buffer_size);
  return DataNodePtr(std::make_shared<Prefetched>(std::move(from), buffer));
}

}  // namespace pstrain::program
