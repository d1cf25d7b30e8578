#include "runtime/shard/optimizers/adam_kernel.h"
#include "runtime/shard/optimizers/optimizer_table.h"

namespace pstrain {

Result<std::shared_ptr<const OptimizerRule>> CreateAdamW(const AdamW& numbers) {
  return CreateAdamRule(numbers, numbers.weight_decay());
}

}  // namespace pstrain
