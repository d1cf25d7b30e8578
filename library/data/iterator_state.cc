#include "library/data/iterator_state.h"

#include <utility>

#include "base/mutex.h"

namespace pstrain {
namespace program {
namespace {

class Bound final : public IteratorState {
 public:
  Bound(ElementBinding binding, ElementSource* source)
      : binding_(std::move(binding)), source_(source) {}

  Result<Element> Next() override {
    if (source_ == nullptr) return InternalError("the iterator of a call that nobody runs is read");
    const MutexLock lock(mutex_);
    if (taken_ == binding_.count) {
      return FailedPreconditionError(
          "the call was given " + std::to_string(binding_.count) +
          (binding_.count == 1 ? " element" : " elements") + " of dataset " + binding_.dataset +
          ", and takes one more; batch more records, or iterate with a larger elements_per_call");
    }
    const std::uint64_t index = binding_.first + taken_;
    if (binding_.size && index >= *binding_.size) return Ended(index);
    PSTRAIN_ASSIGN_OR_RETURN(std::optional<Element> element, source_->Get(binding_, index));
    if (!element) return Ended(index);
    ++taken_;
    return *std::move(element);
  }
  std::optional<ElementBinding> binding() const override { return binding_; }

 private:
  Status Ended(std::uint64_t index) const {
    return OutOfRangeError("dataset " + binding_.dataset + " has ended: it has no element " +
                           std::to_string(index));
  }

  const ElementBinding binding_;
  ElementSource* const source_;
  Mutex mutex_;
  std::uint32_t taken_ PSTRAIN_GUARDED_BY(mutex_) = 0;
};

class Reading final : public IteratorState {
 public:
  explicit Reading(DataNodePtr dataset) : dataset_(std::move(dataset)) {}

  Result<Element> Next() override {
    const MutexLock lock(mutex_);
    PSTRAIN_ASSIGN_OR_RETURN(std::optional<Element> element, dataset_->Get(0, next_));
    if (!element) return OutOfRangeError("the dataset has ended");
    ++next_;
    return *std::move(element);
  }

 private:
  const DataNodePtr dataset_;
  Mutex mutex_;
  std::uint64_t next_ PSTRAIN_GUARDED_BY(mutex_) = 0;
};

}  // namespace

Result<ElementBinding> IteratorState::Bind() {
  return InvalidArgumentError(
      "an iterator of Dataset::Iterate is read where it was made; functions take one of "
      "ClusterCoordinator::CreatePerWorkerDataset");
}

Iterator BoundTo(ElementBinding binding, ElementSource* source) {
  return IteratorAccess::Make(std::make_shared<Bound>(std::move(binding), source));
}

Iterator ReadingOf(DataNodePtr dataset) {
  return IteratorAccess::Make(std::make_shared<Reading>(std::move(dataset)));
}

}  // namespace program

Result<PerReplica<Element>> Iterator::Next() {
  PSTRAIN_ASSIGN_OR_RETURN(Element element, state_->Next());
  return PerReplica<Element>(std::move(element));
}

bool operator==(const Iterator& a, const Iterator& b) {
  if (a.state_ == b.state_) return true;
  const std::optional<program::ElementBinding> binding = a.state_->binding();
  return binding && binding == b.state_->binding();
}

}  // namespace pstrain
