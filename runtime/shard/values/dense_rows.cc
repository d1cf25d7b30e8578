#include "runtime/shard/values/dense_rows.h"

#include <cstring>
#include <vector>

#include "runtime/shard/values/update_ops.h"

namespace pstrain {

// An optimizer takes rows with their slots behind them, as tables have them; here they lie in
// arrays of their own. All optimizers go element by element, so that a run is one long row.
bool ApplyRun(const CatalogVariable& variable, const DenseRun& run, UpdateOp op,
              const ValueView& values, DenseState* dense) {
  const std::size_t size = SizeOf(variable.dtype);
  const std::size_t bytes = run.count * size;
  std::byte* const there = dense->values.bytes().data() + run.first * size;
  if (op != UpdateOp::kGradient) {
    return ApplyUpdate(op, variable.dtype, there, values.bytes().data(), run.count);
  }
  std::vector<std::byte*> arrays{there};
  for (ValueArray& slot : dense->slots) arrays.push_back(slot.bytes().data() + run.first * size);
  std::vector<std::byte> row(arrays.size() * bytes);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::memcpy(row.data() + i * bytes, arrays[i], bytes);
  }
  std::byte* const rows[] = {row.data()};
  const bool finite = variable.optimizer->ApplyRows(rows, run.count, values);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::memcpy(arrays[i], row.data() + i * bytes, bytes);
  }
  return finite;
}

}  // namespace pstrain
