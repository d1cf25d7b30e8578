#include "runtime/shard/catalog.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "runtime/requests/routing.h"

namespace pstrain {
namespace {

/// Keeps every size in bytes, slots included, far below 2^63.
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 56;
/// A row and its slots lie in one allocation.
constexpr std::uint64_t kMaxDimension = std::uint64_t{1} << 24;

static_assert(static_cast<int>(DType::kFloat32) == VariableSpec::FLOAT32 &&
              static_cast<int>(DType::kFloat64) == VariableSpec::FLOAT64 &&
              static_cast<int>(DType::kInt32) == VariableSpec::INT32 &&
              static_cast<int>(DType::kInt64) == VariableSpec::INT64);

Status Error(const VariableSpec& spec, const std::string& message) {
  return InvalidArgumentError("variable " + std::to_string(spec.id()) + " (" + spec.name() +
                              "): " + message);
}

Status ReadShape(CatalogVariable* variable) {
  const VariableSpec& spec = variable->spec;
  if (variable->embedding && spec.shape_size() != 2) {
    return Error(spec, "the shape of an embedding has two numbers");
  }
  variable->rows = spec.shape_size() == 0 ? 1 : static_cast<std::uint64_t>(spec.shape(0));
  variable->dimension = 1;
  std::uint64_t elements = 1;
  for (int i = 0; i < spec.shape_size(); ++i) {
    if (spec.shape(i) <= 0) return Error(spec, "the shape has no elements");
    const auto size = static_cast<std::uint64_t>(spec.shape(i));
    if (size > kMaxElements / elements) return Error(spec, "the shape is too large");
    elements *= size;
    if (i > 0) variable->dimension *= size;
  }
  if (variable->embedding && variable->dimension > kMaxDimension) {
    return Error(spec, "the rows are too long");
  }
  return OkStatus();
}

Status ReadPartitions(std::uint32_t shards, CatalogVariable* variable) {
  const VariableSpec& spec = variable->spec;
  if (variable->embedding) {
    if (spec.partitions_size() != 0) return Error(spec, "an embedding has no partitions");
    return OkStatus();
  }
  std::uint64_t next = 0;
  for (const Partition& partition : spec.partitions()) {
    const auto begin = static_cast<std::uint64_t>(partition.begin());
    const auto size = static_cast<std::uint64_t>(partition.size());
    if (partition.begin() < 0 || partition.size() <= 0 || begin != next ||
        size > variable->rows - begin) {
      return Error(spec, "its partitions do not cover axis 0 in order");
    }
    if (partition.shard() >= shards) {
      return Error(spec, "a partition lies in shard " + std::to_string(partition.shard()) + " of " +
                             std::to_string(shards));
    }
    next = begin + size;
    const auto position = static_cast<std::uint32_t>(variable->partitions.size());
    variable->partitions.push_back({{spec.id(), position},
                                    partition.shard(),
                                    begin * variable->dimension,
                                    size * variable->dimension});
  }
  if (next != variable->rows) return Error(spec, "its partitions do not cover axis 0 in order");
  return OkStatus();
}

Status ReadDType(CatalogVariable* variable) {
  const VariableSpec& spec = variable->spec;
  if (!VariableSpec::DataType_IsValid(spec.dtype())) return Error(spec, "its dtype is unknown");
  variable->dtype = static_cast<DType>(spec.dtype());
  if (!spec.has_optimizer()) return OkStatus();
  auto rule = OptimizerRule::Create(spec.optimizer());
  if (!rule.ok()) return Error(spec, rule.status().message());
  variable->optimizer = std::move(rule).value();
  if (variable->optimizer->Takes(variable->dtype)) return OkStatus();
  return Error(spec,
               std::string("its optimizer does not train variables of ") + NameOf(variable->dtype));
}

Result<CatalogVariable> ReadVariable(const VariableSpec& spec, std::uint32_t position,
                                     std::uint32_t shards) {
  CatalogVariable variable;
  variable.spec = spec;
  if (spec.id() != position) return Error(spec, "its id is not its position");
  if (spec.name().empty()) return Error(spec, "it has no name");
  if (spec.kind() != VariableSpec::DENSE && spec.kind() != VariableSpec::EMBEDDING) {
    return Error(spec, "its kind is unknown");
  }
  variable.embedding = spec.kind() == VariableSpec::EMBEDDING;
  variable.route = RouteOf(spec.name());
  PSTRAIN_RETURN_IF_ERROR(ReadShape(&variable));
  PSTRAIN_RETURN_IF_ERROR(ReadPartitions(shards, &variable));
  PSTRAIN_RETURN_IF_ERROR(ReadDType(&variable));
  PSTRAIN_ASSIGN_OR_RETURN(variable.initial, InitialValues::Create(spec));
  return variable;
}

}  // namespace

// A part that names a pack is one array in one shard, of which each variable has its own piece.
Status Catalog::JoinPack(const CatalogVariable& variable) {
  const VariableSpec& spec = variable.spec;
  if (spec.pack() == 0) return OkStatus();
  const VariableId id = spec.pack() - 1;
  if (id >= variables_.size()) return Error(spec, "its pack begins with no variable before it");
  CatalogVariable& first = variables_[id];
  if (first.spec.pack() != spec.pack()) return Error(spec, "its pack has another first variable");
  const bool fits = variable.partitions.size() == 1 && first.partitions.size() == 1 &&
                    variable.partitions[0].shard == first.partitions[0].shard &&
                    variable.dtype == first.dtype && spec.generation() == first.spec.generation();
  if (!fits) return Error(spec, "it does not fit its pack");
  first.pack.push_back(spec.id());
  first.pack_elements += variable.partitions[0].count;
  return OkStatus();
}

Result<std::shared_ptr<const Catalog>> Catalog::Create(const std::vector<VariableSpec>& variables,
                                                       std::uint32_t shards,
                                                       std::uint32_t batches_per_epoch) {
  if (shards == 0) return InvalidArgumentError("a run has at least one shard");
  if (batches_per_epoch == 0) return InvalidArgumentError("an epoch has at least one batch");
  auto catalog = std::make_shared<Catalog>();
  catalog->modulus_ = ShardModulus(shards);
  catalog->batches_per_epoch_ = batches_per_epoch;
  catalog->dense_of_.resize(shards);
  std::set<std::string> names;
  for (const VariableSpec& spec : variables) {
    const auto id = static_cast<VariableId>(catalog->variables_.size());
    PSTRAIN_ASSIGN_OR_RETURN(CatalogVariable variable, ReadVariable(spec, id, shards));
    if (!names.insert(spec.name()).second) return Error(spec, "its name is taken");
    for (const DensePartition& partition : variable.partitions) {
      catalog->dense_of_[partition.shard].push_back(partition.ref);
    }
    catalog->variables_.push_back(std::move(variable));
    PSTRAIN_RETURN_IF_ERROR(catalog->JoinPack(catalog->variables_.back()));
  }
  return std::shared_ptr<const Catalog>(std::move(catalog));
}

std::uint32_t CatalogVariable::PartitionOf(std::uint64_t row) const {
  const auto behind =
      std::ranges::upper_bound(partitions, row * dimension, {}, &DensePartition::first);
  return static_cast<std::uint32_t>(behind - partitions.begin()) - 1;
}

const CatalogVariable* Catalog::FindByName(const std::string& name) const {
  for (const CatalogVariable& variable : variables_) {
    if (variable.spec.name() == name) return &variable;
  }
  return nullptr;
}

bool Catalog::Extends(const Catalog& older) const {
  if (shards() != older.shards() || batches_per_epoch_ != older.batches_per_epoch_ ||
      variables_.size() < older.variables_.size()) {
    return false;
  }
  for (std::size_t i = 0; i < older.variables_.size(); ++i) {
    if (!google::protobuf::util::MessageDifferencer::Equals(variables_[i].spec,
                                                            older.variables_[i].spec)) {
      return false;
    }
  }
  return true;
}

}  // namespace pstrain
