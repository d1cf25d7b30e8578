#include "runtime/shard/optimizers/adam_kernel.h"
#include "runtime/shard/optimizers/optimizer_table.h"

namespace pstrain {

Result<std::shared_ptr<const OptimizerRule>> CreateAdam(const Adam& numbers) {
  return CreateAdamRule(numbers, /*weight_decay=*/0);
}

}  // namespace pstrain
