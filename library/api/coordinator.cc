#include <pstrain/coordinator.h>

#include "library/data/dataset_registry.h"
#include "library/data/per_worker_elements.h"
#include "library/run.h"

namespace pstrain {

Result<ClusterCoordinator> ClusterCoordinator::Create(const ParameterServerStrategy& strategy) {
  return ClusterCoordinator(strategy.run_);
}

Result<RemoteValue> ClusterCoordinator::ScheduleCall(const std::string& function,
                                                     const std::string& signature,
                                                     const std::vector<Argument>& arguments) {
  PSTRAIN_ASSIGN_OR_RETURN(std::shared_ptr<const ClosureState> state,
                           run_->Schedule({function, signature, arguments}));
  return RemoteValue(std::move(state));
}

Result<PerWorkerDataset> ClusterCoordinator::CreatePerWorkerDataset(
    const DatasetFunction& function) {
  PSTRAIN_ASSIGN_OR_RETURN(
      std::shared_ptr<program::PerWorkerElements> elements,
      program::PerWorkerElements::Open(program::DatasetRegistry::Global(), function.name(),
                                       run_->workers(), run_->iterators()));
  return PerWorkerDataset(std::move(elements));
}

Status ClusterCoordinator::Join(Deadline deadline) {
  return run_->queue().Join(program::EndOf(deadline));
}
Result<bool> ClusterCoordinator::Done() { return run_->queue().Done(); }
Result<int> ClusterCoordinator::Finish() { return run_->Finish(); }

}  // namespace pstrain
