#include <deque>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "library/call_guarded.h"
#include "library/data/sources.h"

namespace pstrain::program {
namespace {

/// Elements that are kept for calls that run in another order than they were scheduled in.
constexpr std::size_t kKept = 64;

/// What messages call it that has thrown.
constexpr const char* kIt = "Generator: it";

class Generated final : public DataNode {
 public:
  explicit Generated(std::function<Dataset::NextElement()> begin) : begin_(std::move(begin)) {}

  std::optional<std::uint64_t> size() const override { return std::nullopt; }
  Result<std::optional<Element>> Get(std::uint64_t pass, std::uint64_t index) const override {
    const MutexLock lock(mutex_);
    const std::uint64_t oldest = made_ - kept_.size();
    if (next_ == nullptr || pass != pass_ || index < oldest) {
      PSTRAIN_RETURN_IF_ERROR(Begin(pass));
    }
    while (made_ <= index && !ended_) PSTRAIN_RETURN_IF_ERROR(Advance());
    if (index >= made_) return std::optional<Element>();
    return std::optional(kept_[index - (made_ - kept_.size())]);
  }

 private:
  Status Begin(std::uint64_t pass) const PSTRAIN_REQUIRES(mutex_) {
    next_ = nullptr;
    made_ = 0;
    ended_ = false;
    kept_.clear();
    pass_ = pass;
    PSTRAIN_ASSIGN_OR_RETURN(
        next_, CallGuarded(kIt, [this]() -> Result<Dataset::NextElement> { return begin_(); }));
    if (next_ != nullptr) return OkStatus();
    return InvalidArgumentError("Generator: it has returned no function");
  }
  Status Advance() const PSTRAIN_REQUIRES(mutex_) {
    Result<std::optional<Element>> element = CallGuarded(kIt, next_);
    if (!element.ok()) {
      next_ = nullptr;  // begins again
      return element.status();
    }
    ended_ = !element->has_value();
    if (ended_) return OkStatus();
    kept_.push_back(**std::move(element));
    ++made_;
    if (kept_.size() > kKept) kept_.pop_front();
    return OkStatus();
  }

  const std::function<Dataset::NextElement()> begin_;
  mutable Mutex mutex_;
  mutable Dataset::NextElement next_ PSTRAIN_GUARDED_BY(mutex_);
  mutable std::uint64_t pass_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  /// Elements of this pass so far; the last ones are kept.
  mutable std::uint64_t made_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  mutable bool ended_ PSTRAIN_GUARDED_BY(mutex_) = false;
  mutable std::deque<Element> kept_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace

Result<DataNodePtr> OpenGenerator(std::function<Dataset::NextElement()> begin) {
  if (begin == nullptr) return InvalidArgumentError("Generator: no function is given");
  return DataNodePtr(std::make_shared<Generated>(std::move(begin)));
}

}  // namespace pstrain::program
