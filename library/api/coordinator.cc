#include <pstrain/coordinator.h>

#include "base/clock.h"
#include "library/api/scopes.h"
#include "library/data/dataset_registry.h"
#include "library/data/per_worker_elements.h"
#include "library/data/resources/resource_source.h"
#include "library/run.h"

namespace pstrain {

Result<ClusterCoordinator> ClusterCoordinator::Create(const ParameterServerStrategy& strategy,
                                                      const CoordinatorOptions& options) {
  PSTRAIN_RETURN_IF_ERROR(strategy.run_->queue().SetOptions(options));
  return ClusterCoordinator(strategy.run_);
}

Result<RemoteValue> ClusterCoordinator::ScheduleCall(const std::string& function,
                                                     const std::string& signature,
                                                     const std::vector<Argument>& arguments,
                                                     const FunctionOptions& function_options,
                                                     const ScheduleOptions& options) {
  PSTRAIN_ASSIGN_OR_RETURN(
      std::shared_ptr<const ClosureState> state,
      run_->Schedule({function, signature, arguments},
                     {.name = function, .function = function_options, .schedule = options}));
  return RemoteValue(std::move(state));
}

Result<PerWorkerDataset> ClusterCoordinator::CreatePerWorkerDataset(
    const DatasetFunction& function) {
  // It is called in workers too, where no variable can be declared.
  const program::NoScope no_scope;
  PSTRAIN_ASSIGN_OR_RETURN(
      std::shared_ptr<program::PerWorkerElements> elements,
      program::PerWorkerElements::Open(program::DatasetRegistry::Global(), function.name(),
                                       run_->workers(), run_->iterators()));
  return PerWorkerDataset(std::move(elements));
}

resource_internal::Handle ClusterCoordinator::MakeHandle(const std::string& resource) const {
  return program::ResourceAccess::Make(resource, run_->workers(), nullptr);
}

Result<std::vector<Values>> ClusterCoordinator::FetchAll(const std::vector<RemoteValue>& values,
                                                         Deadline deadline) {
  const SteadyTime end = program::EndOf(deadline);
  std::vector<Values> fetched;
  fetched.reserve(values.size());
  for (const RemoteValue& value : values) {
    const Deadline left = deadline.forever() ? deadline : Deadline(end - SteadyNow());
    PSTRAIN_ASSIGN_OR_RETURN(fetched.emplace_back(), value.Fetch(left));
  }
  return fetched;
}

Status ClusterCoordinator::Join(Deadline deadline) {
  return run_->queue().Join(program::EndOf(deadline));
}
Result<bool> ClusterCoordinator::Done() { return run_->queue().Done(); }
std::uint64_t ClusterCoordinator::FailedCalls() const { return run_->queue().failed(); }
std::uint64_t ClusterCoordinator::UpdatesLostInRepair() const { return run_->queue().lost(); }
Result<int> ClusterCoordinator::Finish() { return run_->Finish(); }

}  // namespace pstrain
