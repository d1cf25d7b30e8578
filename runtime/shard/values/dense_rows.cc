#include "runtime/shard/values/dense_rows.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "runtime/shard/values/update_ops.h"

namespace pstrain {
namespace {

/// The elements of the runs, one run after the other.
ValueArray Gather(const std::vector<DenseRun>& runs, const ValueArray& from) {
  ValueArray gathered(from.dtype(), 0);
  for (const DenseRun& run : runs) gathered.Append(from, run.first, run.count);
  return gathered;
}

void Scatter(const ValueArray& gathered, const std::vector<DenseRun>& runs, ValueArray* to) {
  const std::size_t size = SizeOf(to->dtype());
  const std::byte* from = gathered.bytes().data();
  for (const DenseRun& run : runs) {
    std::memcpy(to->bytes().data() + run.first * size, from, run.count * size);
    from += run.count * size;
  }
}

/// The step is of a partition that has these rows alone: a slot of one number takes part whole, and
/// counts one step however many runs there are.
bool ApplyGradient(const OptimizerRule& optimizer, const std::vector<DenseRun>& runs,
                   const ValueView& gradients, DenseState* dense) {
  ValueArray values = Gather(runs, dense->values);
  std::vector<ValueArray> slots;
  slots.reserve(dense->slots.size());
  const auto is_whole = [&](std::size_t slot) {
    return optimizer.slots()[slot].form == OptimizerSlot::Form::kOne;
  };
  for (std::size_t i = 0; i < dense->slots.size(); ++i) {
    slots.push_back(is_whole(i) ? dense->slots[i] : Gather(runs, dense->slots[i]));
  }
  const bool finite = optimizer.Apply(values, slots, gradients);
  Scatter(values, runs, &dense->values);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (is_whole(i)) {
      dense->slots[i] = std::move(slots[i]);
    } else {
      Scatter(slots[i], runs, &dense->slots[i]);
    }
  }
  return finite;
}

}  // namespace

std::size_t CountOf(const std::vector<DenseRun>& runs) {
  std::size_t count = 0;
  for (const DenseRun& run : runs) count += run.count;
  return count;
}

bool ApplyRuns(const CatalogVariable& variable, const std::vector<DenseRun>& runs, UpdateOp op,
               const ValueView& values, DenseState* dense) {
  if (op == UpdateOp::kGradient) return ApplyGradient(*variable.optimizer, runs, values, dense);
  const std::size_t size = SizeOf(variable.dtype);
  const std::byte* operands = values.bytes().data();
  bool finite = true;
  for (const DenseRun& run : runs) {
    std::byte* const there = dense->values.bytes().data() + run.first * size;
    finite &= ApplyUpdate(op, variable.dtype, there, operands, run.count);
    operands += run.count * size;
  }
  return finite;
}

}  // namespace pstrain
