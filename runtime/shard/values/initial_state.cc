#include "runtime/shard/values/initial_state.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace pstrain {

DenseState InitialDense(const Catalog& catalog, const PartitionRef& ref) {
  const CatalogVariable& variable = catalog.variables()[ref.variable];
  const DensePartition& partition = variable.partitions[ref.partition];
  DenseState dense;
  dense.variable = ref.variable;
  dense.partition = ref.partition;
  dense.values = ValueArray(variable.dtype, partition.count);
  variable.initial.Fill(partition.first, variable.dtype, dense.values.bytes());
  for (const OptimizerSlot& slot : variable.slots()) {
    WithElement(variable.dtype, [&]<typename T>(std::type_identity<T>) {
      dense.slots.emplace_back(
          std::vector<T>(slot.OfPartition(partition.count), static_cast<T>(slot.initial_value)));
    });
  }
  return dense;
}

std::span<const PartitionRef> DenseBelow(const Catalog& catalog, ShardId shard,
                                         std::uint32_t variables) {
  const std::span<const PartitionRef> all(catalog.DenseOf(shard));
  const auto end = std::ranges::partition_point(
      all, [variables](const PartitionRef& ref) { return ref.variable < variables; });
  return all.first(static_cast<std::size_t>(end - all.begin()));
}

}  // namespace pstrain
