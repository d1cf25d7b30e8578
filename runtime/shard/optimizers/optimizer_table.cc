#include "runtime/shard/optimizers/optimizer_table.h"

namespace pstrain {

Result<std::shared_ptr<const OptimizerRule>> OptimizerRule::Create(const Optimizer& optimizer) {
#define PSTRAIN_CREATE_OPTIMIZER(field, Message) \
  if (optimizer.has_##field()) return Create##Message(optimizer.field());
  PSTRAIN_OPTIMIZERS(PSTRAIN_CREATE_OPTIMIZER)
#undef PSTRAIN_CREATE_OPTIMIZER
  return InvalidArgumentError("optimizer: none is set");
}

}  // namespace pstrain
