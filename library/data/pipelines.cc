#include "library/data/pipelines.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "library/call_guarded.h"

namespace pstrain::program {
namespace {

Result<DataNodePtr> Open(const DatasetRegistry::Make& make, const InputContext& context) {
  PSTRAIN_ASSIGN_OR_RETURN(const Dataset dataset,
                           CallGuarded("the dataset function", [&] { return make(context); }));
  return dataset.plan().open();
}

std::string TextOf(const std::optional<std::uint64_t>& elements) {
  return elements ? std::to_string(*elements) : std::string("an unknown number of");
}

Status CheckSize(const ElementBinding& binding, const std::optional<std::uint64_t>& here) {
  if (here == binding.size) return OkStatus();
  return FailedPreconditionError("dataset " + binding.dataset + " has " + TextOf(here) +
                                 " elements here, and " + TextOf(binding.size) +
                                 " where it was scheduled; its files have to be the same for all");
}

}  // namespace

Result<OpenedPipeline> OpenPipeline(const DatasetRegistry& datasets, const std::string& dataset,
                                    std::uint32_t workers, std::uint32_t pipeline) {
  PSTRAIN_ASSIGN_OR_RETURN(const DatasetRegistry::Make make, datasets.Find(dataset));
  InputContext::Fields fields;
  fields.num_workers = workers;
  fields.worker_index = pipeline;
  const InputContext context(fields);
  Result<DataNodePtr> opened = Open(make, context);
  if (!opened.ok()) return opened.status().WithContext("dataset " + dataset);
  return OpenedPipeline{*std::move(opened), context.asked_for_worker_index()};
}

std::shared_ptr<Pipelines::Pipeline> Pipelines::Find(const ElementBinding& binding) {
  const MutexLock lock(mutex_);
  Kept& kept = kept_[{binding.dataset, binding.workers, binding.pipeline}];
  if (kept.pipeline == nullptr) kept.pipeline = std::make_shared<Pipeline>();
  kept.used = ++uses_;
  std::shared_ptr<Pipeline> found = kept.pipeline;
  if (kept_.size() > kMost) {
    kept_.erase(
        std::ranges::min_element(kept_, {}, [](const auto& entry) { return entry.second.used; }));
  }
  return found;
}

Result<DataNodePtr> Pipelines::Opened(const ElementBinding& binding, Pipeline& pipeline) const {
  const MutexLock lock(pipeline.mutex);
  if (pipeline.elements != nullptr) return pipeline.elements;
  PSTRAIN_ASSIGN_OR_RETURN(OpenedPipeline opened, OpenPipeline(datasets_, binding.dataset,
                                                               binding.workers, binding.pipeline));
  LogInfo("worker", "a dataset is opened",
          {{"dataset", binding.dataset}, {"pipeline", binding.pipeline}});
  pipeline.elements = std::move(opened.elements);
  return pipeline.elements;
}

Result<std::optional<Element>> Pipelines::Get(const ElementBinding& binding, std::uint64_t index) {
  const std::shared_ptr<Pipeline> pipeline = Find(binding);
  PSTRAIN_ASSIGN_OR_RETURN(const DataNodePtr elements, Opened(binding, *pipeline));
  PSTRAIN_RETURN_IF_ERROR(CheckSize(binding, elements->size()));
  return elements->Get(binding.pass, index);
}

}  // namespace pstrain::program
