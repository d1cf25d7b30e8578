#include "runtime/checkpoint/digest.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/random.h"
#include "base/text/hex.h"
#include "runtime/checkpoint/checkpoint_chain.h"
#include "runtime/shard/catalog.h"

namespace pstrain {
namespace {

/// A sum over rows, so that the order in which they come does not matter; two lanes of 64 bits.
struct Lanes {
  std::array<std::uint64_t, 2> sum{};
  std::uint64_t rows = 0;

  template <typename T>
  void AddRow(std::uint64_t row, std::span<const T> values) {
    std::uint64_t hash = Mix64(0x5eedULL, row);
    for (const T value : values) {
      std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t> bits = 0;
      std::memcpy(&bits, &value, sizeof(bits));
      hash = Mix64(hash, bits);
    }
    sum[0] += hash;
    sum[1] += Mix64(hash, 1);
    ++rows;
  }
};

/// The values and each slot of one variable.
using VariableLanes = std::vector<Lanes>;

/// An array of a partition. A slot of one number counts as that number in each row of axis 0, so
/// that it is the same however the variable is divided.
template <typename T>
void AddPartition(const CatalogVariable& variable, const DensePartition& partition,
                  std::span<const T> elements, Lanes* sum) {
  const bool one = elements.size() != partition.count;
  for (std::size_t i = 0; i < partition.count; i += variable.dimension) {
    sum->AddRow((partition.first + i) / variable.dimension,
                one ? elements : elements.subspan(i, variable.dimension));
  }
}

Status AddDense(const Catalog& catalog, const DenseState& dense,
                std::vector<VariableLanes>* lanes) {
  if (dense.variable >= catalog.variables().size() ||
      dense.partition >= catalog.variables()[dense.variable].partitions.size() ||
      dense.slots.size() + 1 != (*lanes)[dense.variable].size()) {
    return DataLossError("a partition that its manifest does not know");
  }
  const CatalogVariable& variable = catalog.variables()[dense.variable];
  const DensePartition& partition = variable.partitions[dense.partition];
  VariableLanes& sums = (*lanes)[dense.variable];
  for (std::size_t array = 0; array < sums.size(); ++array) {
    const ValueArray& values = array == 0 ? dense.values : dense.slots[array - 1];
    const std::size_t count =
        array == 0 ? partition.count : variable.slots()[array - 1].OfPartition(partition.count);
    if (values.size() != count || values.dtype() != variable.dtype) {
      return DataLossError("a partition has another size or dtype");
    }
    WithElement(variable.dtype, [&]<typename T>(std::type_identity<T>) {
      AddPartition(variable, partition, std::span<const T>(values.of<T>()), &sums[array]);
    });
  }
  return OkStatus();
}

/// The rows of one array of a table that differ from what they were made with: `slot`, or where
/// there is none the variable's initial values.
template <typename T>
void AddRows(const CatalogVariable& variable, const std::vector<std::uint64_t>& keys,
             std::span<const T> values, const OptimizerSlot* slot, Lanes* sum) {
  const std::size_t dimension = variable.dimension;
  const std::size_t count = slot == nullptr ? dimension : slot->OfRow(dimension);
  std::vector<T> initial(count, slot == nullptr ? T{0} : static_cast<T>(slot->initial_value));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::span<const T> row = values.subspan(i * count, count);
    if (slot == nullptr) {
      variable.initial.Fill(keys[i] * dimension, variable.dtype,
                            std::as_writable_bytes(std::span(initial)));
    }
    if (!std::equal(row.begin(), row.end(), initial.begin())) sum->AddRow(keys[i], row);
  }
}

Status AddTable(const Catalog& catalog, const TableState& table,
                std::vector<VariableLanes>* lanes) {
  if (table.variable >= catalog.variables().size() ||
      !catalog.variables()[table.variable].embedding ||
      table.slots.size() + 1 != (*lanes)[table.variable].size()) {
    return DataLossError("a table that its manifest does not know");
  }
  const CatalogVariable& variable = catalog.variables()[table.variable];
  VariableLanes& sums = (*lanes)[table.variable];
  for (std::size_t array = 0; array < sums.size(); ++array) {
    const ValueArray& values = array == 0 ? table.values : table.slots[array - 1];
    const OptimizerSlot* slot = array == 0 ? nullptr : &variable.slots()[array - 1];
    const std::size_t of_row =
        slot == nullptr ? variable.dimension : slot->OfRow(variable.dimension);
    if (values.size() != table.keys.size() * of_row || values.dtype() != variable.dtype) {
      return DataLossError("a table has another size or dtype");
    }
    WithElement(variable.dtype, [&]<typename T>(std::type_identity<T>) {
      AddRows(variable, table.keys, std::span<const T>(values.of<T>()), slot, &sums[array]);
    });
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<CheckpointDigest>> DigestCheckpoint(const std::string& checkpoint_directory) {
  PSTRAIN_ASSIGN_OR_RETURN(const CheckpointChain chain,
                           CheckpointChain::Open(checkpoint_directory));
  const CheckpointManifest& manifest = chain.manifest();
  auto catalog =
      Catalog::Create({manifest.variables().begin(), manifest.variables().end()}, manifest.shards(),
                      static_cast<std::uint32_t>(manifest.batches_per_epoch()));
  if (!catalog.ok())
    return DataLossError("checkpoint " + checkpoint_directory + ": " + catalog.status().message());
  const std::vector<CatalogVariable>& variables = (*catalog)->variables();
  std::vector<VariableLanes> lanes;
  lanes.reserve(variables.size());
  for (const CatalogVariable& variable : variables) {
    lanes.emplace_back(1 + variable.slots().size());
  }
  for (ShardId shard = 0; shard < manifest.shards(); ++shard) {
    PSTRAIN_ASSIGN_OR_RETURN(const ShardState state, chain.Read(shard));
    const std::string context = "shard " + std::to_string(shard) + " of " + checkpoint_directory;
    for (const DenseState& dense : state.dense) {
      PSTRAIN_RETURN_IF_ERROR(AddDense(**catalog, dense, &lanes).WithContext(context));
    }
    for (const TableState& table : state.tables) {
      PSTRAIN_RETURN_IF_ERROR(AddTable(**catalog, table, &lanes).WithContext(context));
    }
  }
  std::vector<CheckpointDigest> digests;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    for (std::size_t array = 0; array < lanes[i].size(); ++array) {
      const std::string slot(array == 0 ? "" : variables[i].slots()[array - 1].name);
      digests.push_back({variables[i].spec.name(), slot,
                         ToHex(lanes[i][array].sum[0]) + ToHex(lanes[i][array].sum[1]),
                         lanes[i][array].rows});
    }
  }
  return digests;
}

}  // namespace pstrain
