#include "library/data/per_worker_elements.h"

#include <limits>
#include <ranges>

#include "base/mutex.h"
#include "library/data/pipelines.h"

namespace pstrain {
namespace program {
namespace {

constexpr std::int64_t kMostPerCall = 65536;

/// Gives the elements of all pipelines, one pipeline after the other.
class RoundRobin final : public IteratorState {
 public:
  RoundRobin(std::shared_ptr<const PerWorkerElements> elements, std::uint64_t pass,
             std::uint32_t per_call)
      : elements_(std::move(elements)),
        pass_(pass),
        per_call_(per_call),
        next_(elements_->sizes().size()) {}
  /// REQUIRES: the position has as many pipelines as `elements`.
  RoundRobin(std::shared_ptr<const PerWorkerElements> elements, const IteratorPosition& position,
             std::uint32_t per_call)
      : elements_(std::move(elements)),
        pass_(position.pass()),
        per_call_(per_call),
        next_(position.next().begin(), position.next().end()),
        turn_(position.turn()) {}

  Result<Element> Next() override {
    return UnimplementedError("dataset " + elements_->dataset() +
                              " is read by functions on workers: pass the iterator to Schedule, "
                              "and call Next in the function");
  }

  Result<ElementBinding> Bind() override {
    const MutexLock lock(mutex_);
    for (std::size_t tried = 0; tried < next_.size(); ++tried) {
      const std::size_t pipeline = (turn_ + tried) % next_.size();
      const std::optional<std::uint64_t> size = elements_->sizes()[pipeline];
      const std::uint64_t first = next_[pipeline];
      if (first >= size.value_or(kForever)) continue;
      next_[pipeline] = kForever - first < per_call_ ? kForever : first + per_call_;
      turn_ = (pipeline + 1) % next_.size();
      return ElementBinding{.dataset = elements_->dataset(),
                            .workers = elements_->workers(),
                            .pipeline = static_cast<std::uint32_t>(pipeline),
                            .pass = pass_,
                            .first = first,
                            .count = per_call_,
                            .size = size};
    }
    return OutOfRangeError("dataset " + elements_->dataset() +
                           " has ended: all its elements are scheduled");
  }

  IteratorPosition Position() const override {
    const MutexLock lock(mutex_);
    IteratorPosition position;
    position.set_dataset(elements_->dataset());
    position.set_workers(elements_->workers());
    position.set_pass(pass_);
    position.mutable_next()->Assign(next_.begin(), next_.end());
    position.set_turn(static_cast<std::uint32_t>(turn_));
    return position;
  }

  void Unbind(const ElementBinding& binding) override {
    const MutexLock lock(mutex_);
    next_[binding.pipeline] = binding.first;
    turn_ = binding.pipeline;
  }

 private:
  const std::shared_ptr<const PerWorkerElements> elements_;
  const std::uint64_t pass_;
  const std::uint32_t per_call_;
  mutable Mutex mutex_;
  /// By pipeline, its next element; and whose turn it is.
  std::vector<std::uint64_t> next_ PSTRAIN_GUARDED_BY(mutex_);
  std::size_t turn_ PSTRAIN_GUARDED_BY(mutex_) = 0;
};

}  // namespace

Result<std::shared_ptr<PerWorkerElements>> PerWorkerElements::Open(
    const DatasetRegistry& datasets, const std::string& dataset, std::uint32_t workers,
    const std::shared_ptr<NamedIterators>& named) {
  std::shared_ptr<PerWorkerElements> elements(
      new PerWorkerElements(datasets, dataset, workers, named));
  PSTRAIN_ASSIGN_OR_RETURN(const OpenedPipeline first, OpenPipeline(datasets, dataset, workers, 0));
  elements->sizes_.push_back(first.elements->size());
  if (!first.for_each_worker) return elements;
  for (std::uint32_t pipeline = 1; pipeline < workers; ++pipeline) {
    PSTRAIN_ASSIGN_OR_RETURN(const OpenedPipeline next,
                             OpenPipeline(datasets, dataset, workers, pipeline));
    elements->sizes_.push_back(next.elements->size());
  }
  return elements;
}

std::int64_t PerWorkerElements::cardinality() const {
  std::uint64_t all = 0;
  for (const std::optional<std::uint64_t>& size : sizes_) {
    if (!size) return Dataset::kUnknownCardinality;
    if (*size == kForever || __builtin_add_overflow(all, *size, &all)) {
      return Dataset::kInfiniteCardinality;
    }
  }
  if (all > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return Dataset::kInfiniteCardinality;
  }
  return static_cast<std::int64_t>(all);
}

Result<Iterator> PerWorkerElements::Iterate(const IterateOptions& options) {
  if (options.elements_per_call < 1 || options.elements_per_call > kMostPerCall) {
    return InvalidArgumentError("IterateOptions.elements_per_call is " +
                                std::to_string(options.elements_per_call) +
                                ", and has to be from 1 to " + std::to_string(kMostPerCall));
  }
  const auto per_call = static_cast<std::uint32_t>(options.elements_per_call);
  const auto make = [this, per_call](const IteratorPosition* position) {
    return MakeIterator(per_call, position);
  };
  if (const auto named = named_.lock(); named != nullptr && !options.name.empty()) {
    return named->Get(options.name, dataset_, options.elements_per_call, make);
  }
  PSTRAIN_ASSIGN_OR_RETURN(std::shared_ptr<IteratorState> state, make(nullptr));
  return IteratorAccess::Make(std::move(state));
}

// The pipelines are those of the mark, whatever workers there are now: elements of a pipeline that
// no worker had any more would be left out.
Result<std::shared_ptr<IteratorState>> PerWorkerElements::MakeIterator(
    std::uint32_t per_call, const IteratorPosition* position) {
  if (position == nullptr) {
    return std::shared_ptr<IteratorState>(
        std::make_shared<RoundRobin>(shared_from_this(), passes_.fetch_add(1), per_call));
  }
  const std::string name = "iterator " + position->name();
  if (position->dataset() != dataset_) {
    return FailedPreconditionError(name + " is in the mark, of dataset " + position->dataset() +
                                   " and not of " + dataset_ + "; give this one another name");
  }
  std::shared_ptr<const PerWorkerElements> elements = shared_from_this();
  if (position->workers() != workers_) {
    PSTRAIN_ASSIGN_OR_RETURN(elements, Open(datasets_, dataset_, position->workers()));
  }
  if (static_cast<std::size_t>(position->next_size()) != elements->sizes().size()) {
    return FailedPreconditionError(name + " has " + std::to_string(position->next_size()) +
                                   " pipelines in the mark, and the dataset function makes " +
                                   std::to_string(elements->sizes().size()) +
                                   " now; give it another name to begin at the first element");
  }
  std::uint64_t passes = passes_.load();
  while (passes <= position->pass() &&
         !passes_.compare_exchange_weak(passes, position->pass() + 1)) {
  }
  return std::shared_ptr<IteratorState>(
      std::make_shared<RoundRobin>(std::move(elements), *position, per_call));
}

CallBinding::~CallBinding() {
  for (const Taken& taken : taken_ | std::views::reverse) {
    IteratorAccess::StateOf(taken.iterator).Unbind(taken.binding);
  }
}

Result<std::vector<Argument>> CallBinding::Bind(const std::vector<Argument>& arguments) {
  std::vector<Argument> bound;
  bound.reserve(arguments.size());
  for (const Argument& argument : arguments) {
    const Iterator* const iterator = std::get_if<Iterator>(&argument);
    if (iterator == nullptr) {
      bound.push_back(argument);
      continue;
    }
    PSTRAIN_ASSIGN_OR_RETURN(ElementBinding binding, IteratorAccess::StateOf(*iterator).Bind());
    taken_.push_back({*iterator, binding});
    bound.emplace_back(BoundTo(std::move(binding), nullptr));
  }
  return bound;
}

}  // namespace program

std::int64_t PerWorkerDataset::cardinality() const { return elements_->cardinality(); }

Result<Iterator> PerWorkerDataset::Iterate(const IterateOptions& options) const {
  return elements_->Iterate(options);
}

}  // namespace pstrain
