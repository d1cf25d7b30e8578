#include "runtime/checkpoint/checkpoint_reader.h"

#include <algorithm>

#include "runtime/requests/routing.h"

namespace pstrain {

Result<CheckpointReader> CheckpointReader::Open(const std::string& checkpoint_directory) {
  PSTRAIN_ASSIGN_OR_RETURN(CheckpointChain chain, CheckpointChain::Open(checkpoint_directory));
  CheckpointReader reader(checkpoint_directory, std::move(chain));
  const CheckpointManifest& manifest = reader.manifest();
  auto catalog =
      Catalog::Create({manifest.variables().begin(), manifest.variables().end()}, manifest.shards(),
                      static_cast<std::uint32_t>(manifest.batches_per_epoch()));
  if (!catalog.ok())
    return DataLossError("checkpoint " + checkpoint_directory + ": " + catalog.status().message());
  reader.catalog_ = std::move(catalog).value();
  reader.checkpoint_shards_.resize(manifest.shards());
  return reader;
}

Result<const CheckpointReader::LoadedShard*> CheckpointReader::Load(ShardId shard) {
  if (checkpoint_shards_[shard] != nullptr) return checkpoint_shards_[shard].get();
  PSTRAIN_ASSIGN_OR_RETURN(ShardState state, chain_.Read(shard));
  auto checkpoint_shard = std::make_unique<LoadedShard>();
  for (DenseState& dense : state.dense) {
    checkpoint_shard->dense[{dense.variable, dense.partition}] = std::move(dense.values);
  }
  for (TableState& table : state.tables) {
    const bool known =
        table.variable < catalog_->variables().size() &&
        table.values.dtype() == catalog_->variables()[table.variable].dtype &&
        table.values.size() == table.keys.size() * catalog_->variables()[table.variable].dimension;
    if (!known)
      return DataLossError("checkpoint " + directory_ + ": a table has another size or dtype");
    checkpoint_shard->tables[table.variable] = {std::move(table.keys), std::move(table.values)};
  }
  checkpoint_shards_[shard] = std::move(checkpoint_shard);
  return checkpoint_shards_[shard].get();
}

Status CheckpointReader::CheckFloat32(const std::string& name) const {
  const CatalogVariable* variable = catalog_->FindByName(name);
  if (variable == nullptr || variable->dtype == DType::kFloat32) return OkStatus();
  return InvalidArgumentError("checkpoint " + directory_ + ": " + name + " is of " +
                              NameOf(variable->dtype) + ", only float32 is read here");
}

Result<const CatalogVariable*> CheckpointReader::FindDense(const std::string& name) const {
  const CatalogVariable* variable = catalog_->FindByName(name);
  if (variable != nullptr && !variable->embedding) return variable;
  return NotFoundError("checkpoint " + directory_ + " has no dense variable " + name);
}

Result<const CatalogVariable*> CheckpointReader::FindTable(const std::string& name) const {
  const CatalogVariable* variable = catalog_->FindByName(name);
  if (variable != nullptr && variable->embedding) return variable;
  return NotFoundError("checkpoint " + directory_ + " has no table " + name);
}

Result<ValueArray> CheckpointReader::DenseArray(const std::string& name) {
  PSTRAIN_ASSIGN_OR_RETURN(const CatalogVariable* const variable, FindDense(name));
  // Before the memory is taken: a damaged manifest may name any shape.
  std::uint64_t bytes = 0;
  for (const CheckpointShard& checkpoint_shard : chain_.manifest().checkpoint_shards())
    bytes += checkpoint_shard.bytes();
  const std::size_t element = SizeOf(variable->dtype);
  const std::uint64_t count = variable->rows * variable->dimension;
  if (count > bytes / element) {
    return DataLossError("checkpoint " + directory_ +
                         ": its checkpoint shards are too small to hold " + name);
  }
  ValueArray values(variable->dtype, count);
  for (std::uint32_t i = 0; i < variable->partitions.size(); ++i) {
    const DensePartition& partition = variable->partitions[i];
    PSTRAIN_ASSIGN_OR_RETURN(const LoadedShard* checkpoint_shard, Load(partition.shard));
    const auto part = checkpoint_shard->dense.find({variable->spec.id(), i});
    if (part == checkpoint_shard->dense.end() || part->second.size() != partition.count ||
        part->second.dtype() != variable->dtype) {
      return DataLossError("checkpoint " + directory_ + ": partition " + std::to_string(i) +
                           " of " + name + " is missing or has another size or dtype");
    }
    std::ranges::copy(part->second.bytes(),
                      values.bytes().subspan(partition.first * element).begin());
  }
  return values;
}

Result<std::vector<float>> CheckpointReader::Dense(const std::string& name) {
  PSTRAIN_RETURN_IF_ERROR(FindDense(name).status());
  PSTRAIN_RETURN_IF_ERROR(CheckFloat32(name));
  PSTRAIN_ASSIGN_OR_RETURN(ValueArray values, DenseArray(name));
  return std::move(values.of<float>());
}

Result<std::vector<std::uint64_t>> CheckpointReader::HeldKeys(const std::string& name) {
  PSTRAIN_ASSIGN_OR_RETURN(const CatalogVariable* const variable, FindTable(name));
  std::vector<std::uint64_t> held;
  for (ShardId shard = 0; shard < catalog_->shards(); ++shard) {
    PSTRAIN_ASSIGN_OR_RETURN(const LoadedShard* checkpoint_shard, Load(shard));
    const auto table = checkpoint_shard->tables.find(variable->spec.id());
    if (table == checkpoint_shard->tables.end()) continue;
    held.insert(held.end(), table->second.keys.begin(), table->second.keys.end());
  }
  std::ranges::sort(held);
  return held;
}

Result<std::uint64_t> CheckpointReader::HeldRows(const std::string& name) {
  PSTRAIN_RETURN_IF_ERROR(FindTable(name).status());
  PSTRAIN_RETURN_IF_ERROR(CheckFloat32(name));
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> held, HeldKeys(name));
  return held.size();
}

Result<ValueArray> CheckpointReader::RowsArray(const std::string& name,
                                               std::span<const std::uint64_t> rows) {
  PSTRAIN_ASSIGN_OR_RETURN(const CatalogVariable* const variable, FindTable(name));
  const VariableId id = variable->spec.id();
  const std::size_t dimension = variable->dimension;
  const std::size_t row_bytes = dimension * SizeOf(variable->dtype);
  ValueArray values(variable->dtype, rows.size() * dimension);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] >= variable->rows) {
      return OutOfRangeError(name + " has no row " + std::to_string(rows[i]));
    }
    PSTRAIN_ASSIGN_OR_RETURN(const LoadedShard* checkpoint_shard,
                             Load(ShardOfRow(variable->route, rows[i], catalog_->modulus())));
    const std::span<std::byte> out = values.bytes().subspan(i * row_bytes, row_bytes);
    const auto table = checkpoint_shard->tables.find(id);
    const Table none;
    const Table& found = table == checkpoint_shard->tables.end() ? none : table->second;
    const auto key = std::lower_bound(found.keys.begin(), found.keys.end(), rows[i]);
    // A row that nobody has trained is in no file: its initial values follow from its number.
    if (key == found.keys.end() || *key != rows[i]) {
      variable->initial.Fill(rows[i] * dimension, variable->dtype, out);
      continue;
    }
    const auto place = static_cast<std::size_t>(key - found.keys.begin());
    std::ranges::copy(found.values.bytes().subspan(place * row_bytes, row_bytes), out.begin());
  }
  return values;
}

Result<std::vector<float>> CheckpointReader::Rows(const std::string& name,
                                                  std::span<const std::uint64_t> rows) {
  PSTRAIN_RETURN_IF_ERROR(FindTable(name).status());
  PSTRAIN_RETURN_IF_ERROR(CheckFloat32(name));
  PSTRAIN_ASSIGN_OR_RETURN(ValueArray values, RowsArray(name, rows));
  return std::move(values.of<float>());
}

}  // namespace pstrain
