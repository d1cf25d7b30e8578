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

  void Unbind(const ElementBinding& binding) override {
    const MutexLock lock(mutex_);
    next_[binding.pipeline] = binding.first;
    turn_ = binding.pipeline;
  }

 private:
  const std::shared_ptr<const PerWorkerElements> elements_;
  const std::uint64_t pass_;
  const std::uint32_t per_call_;
  Mutex mutex_;
  /// By pipeline, its next element; and whose turn it is.
  std::vector<std::uint64_t> next_ PSTRAIN_GUARDED_BY(mutex_);
  std::size_t turn_ PSTRAIN_GUARDED_BY(mutex_) = 0;
};

}  // namespace

Result<std::shared_ptr<PerWorkerElements>> PerWorkerElements::Open(const DatasetRegistry& datasets,
                                                                   const std::string& dataset,
                                                                   std::uint32_t workers) {
  std::shared_ptr<PerWorkerElements> elements(new PerWorkerElements(dataset, workers));
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
  return IteratorAccess::Make(
      std::make_shared<RoundRobin>(shared_from_this(), passes_.fetch_add(1),
                                   static_cast<std::uint32_t>(options.elements_per_call)));
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
