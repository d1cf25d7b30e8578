#include <pstrain/coordinator.h>

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

Status ClusterCoordinator::Join(Deadline deadline) {
  return run_->queue().Join(program::EndOf(deadline));
}
Result<bool> ClusterCoordinator::Done() { return run_->queue().Done(); }
Result<int> ClusterCoordinator::Finish() { return run_->Finish(); }

}  // namespace pstrain
