#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/requests/routing.h"
#include "runtime/shard/catalog.h"

namespace pstrain {
namespace {

std::string Name(ShardId shard, VariableId variable) {
  return "shard " + std::to_string(shard) + ", variable " + std::to_string(variable);
}

/// A few bytes that name a partition are answered with all of its values: to name it again would
/// let a small request ask for more memory than there is.
Status CheckOnce(const PullSection& section) {
  std::vector<std::pair<VariableId, std::uint32_t>> refs;
  refs.reserve(section.dense.size());
  for (const DenseRead& read : section.dense) refs.emplace_back(read.variable, read.partition);
  std::ranges::sort(refs);
  const auto twice = std::ranges::adjacent_find(refs);
  if (twice == refs.end()) return OkStatus();
  return InvalidArgumentError(Name(section.shard, twice->first) + ": partition " +
                              std::to_string(twice->second) + " is asked for twice");
}

/// A batch is left out whole: part of its gradient would be in the values, and none of its records
/// in the counts.
Status CheckLeftOut(const PushRequest& request) {
  if (request.non_finite == 0) return OkStatus();
  if (request.non_finite != request.records - request.skipped) {
    return InvalidArgumentError("a batch is left out with all of its records or none");
  }
  for (const PushSection& section : request.sections) {
    if (section.dense.empty() && section.tables.empty()) continue;
    return InvalidArgumentError("a batch that is left out has a gradient");
  }
  return OkStatus();
}

/// The position of the first key that is not above the one before it, or beyond the rows, or not
/// `in_shard`; as many as there are where each of them fits.
template <typename InShard>
std::size_t FirstMisfit(std::span<const std::uint64_t> keys, std::uint64_t rows, InShard in_shard) {
  std::uint64_t least = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] < least || keys[i] >= rows || !in_shard(keys[i])) return i;
    least = keys[i] + 1;
  }
  return keys.size();
}

/// All variables that it names have ids below `variables`.
template <typename Section>
bool NamesBelow(const Section& section, std::size_t variables) {
  const auto known = [variables](const auto& part) { return part.variable < variables; };
  return std::ranges::all_of(section.dense, known) && std::ranges::all_of(section.tables, known);
}

std::string Text(WorkId work_id) {
  return "(" + std::to_string(work_id.epoch) + ", " + std::to_string(work_id.batch) + ")";
}

}  // namespace

bool Catalog::Knows(const PullSection& section) const {
  return NamesBelow(section, variables_.size());
}

bool Catalog::Knows(const PushSection& section) const {
  return NamesBelow(section, variables_.size());
}

Status Catalog::CheckGrant(const GrantContext& grant) const {
  if (grant.after.batch < batches_per_epoch_) return OkStatus();
  return InvalidArgumentError("after: there is no work id " + Text(grant.after) +
                              "; an epoch has " + std::to_string(batches_per_epoch_) + " batches");
}

Status Catalog::CheckShards(std::vector<bool>* seen, ShardId shard) const {
  if (shard >= shards()) {
    return InvalidArgumentError("shard " + std::to_string(shard) + " of " +
                                std::to_string(shards()));
  }
  if ((*seen)[shard]) {
    return InvalidArgumentError("two sections for shard " + std::to_string(shard));
  }
  (*seen)[shard] = true;
  return OkStatus();
}

Status Catalog::CheckPartition(ShardId shard, const PartitionRef& ref) const {
  if (ref.variable >= variables_.size() || variables_[ref.variable].embedding) {
    return InvalidArgumentError(Name(shard, ref.variable) + ": no such dense variable");
  }
  const auto& partitions = variables_[ref.variable].partitions;
  if (ref.partition == kWholePack) {
    if (!variables_[ref.variable].pack.empty() && partitions[0].shard == shard) return OkStatus();
    return InvalidArgumentError(Name(shard, ref.variable) + ": no pack of this shard begins there");
  }
  if (ref.partition >= partitions.size() || partitions[ref.partition].shard != shard) {
    return InvalidArgumentError(Name(shard, ref.variable) + ": partition " +
                                std::to_string(ref.partition) + " is not in this shard");
  }
  return OkStatus();
}

Status Catalog::CheckKeys(ShardId shard, const RowKeys& keys) const {
  const CatalogVariable& variable = variables_[keys.variable];
  const std::size_t misfit =
      variable.embedding
          ? FirstMisfit(keys.keys, variable.rows,
                        [shard, modulus = modulus_, route = variable.route](std::uint64_t row) {
                          return ShardOfRow(route, row, modulus) == shard;
                        })
          : FirstMisfit(keys.keys, variable.rows, [shard, &variable](std::uint64_t row) {
              return variable.partitions[variable.PartitionOf(row)].shard == shard;
            });
  if (misfit == keys.keys.size()) return OkStatus();
  if (misfit > 0 && keys.keys[misfit] <= keys.keys[misfit - 1]) {
    return InvalidArgumentError(Name(shard, keys.variable) + ": rows do not ascend");
  }
  return InvalidArgumentError(Name(shard, keys.variable) + ": row " +
                              std::to_string(keys.keys[misfit]) + " is not in this shard");
}

Status Catalog::Check(const PullRequest& request) const {
  PSTRAIN_RETURN_IF_ERROR(CheckGrant(request.grant));
  std::vector<bool> seen(shards());
  for (const PullSection& section : request.sections) {
    PSTRAIN_RETURN_IF_ERROR(CheckShards(&seen, section.shard));
    if (!Knows(section)) continue;
    for (const DenseRead& read : section.dense) {
      PSTRAIN_RETURN_IF_ERROR(CheckPartition(section.shard, {read.variable, read.partition}));
      PSTRAIN_RETURN_IF_ERROR(CheckDType(section.shard, read.variable, read.dtype));
    }
    PSTRAIN_RETURN_IF_ERROR(CheckOnce(section));
    for (const RowKeys& keys : section.tables) {
      PSTRAIN_RETURN_IF_ERROR(CheckKeys(section.shard, keys));
      PSTRAIN_RETURN_IF_ERROR(CheckDType(section.shard, keys.variable, keys.dtype));
    }
  }
  return OkStatus();
}

Status Catalog::CheckDType(ShardId shard, VariableId variable, DType dtype) const {
  if (dtype == variables_[variable].dtype) return OkStatus();
  return InvalidArgumentError(Name(shard, variable) + ": " + variables_[variable].spec.name() +
                              " is of " + NameOf(variables_[variable].dtype) + ", not of " +
                              NameOf(dtype));
}

Status Catalog::CheckForm(ShardId shard, VariableId variable, const ValueView& values,
                          UpdateOp op) const {
  PSTRAIN_RETURN_IF_ERROR(CheckDType(shard, variable, values.dtype()));
  if (op > kLastUpdateOp) return InvalidArgumentError(Name(shard, variable) + ": an unknown op");
  if (op != UpdateOp::kGradient || variables_[variable].optimizer != nullptr) return OkStatus();
  return InvalidArgumentError(Name(shard, variable) + ": " + variables_[variable].spec.name() +
                              " has no optimizer, so it takes no gradient; assign, add, min and "
                              "max are for such variables");
}

Status Catalog::CheckDense(ShardId shard, const DenseUpdate& dense) const {
  PSTRAIN_RETURN_IF_ERROR(CheckPartition(shard, {dense.variable, dense.partition}));
  PSTRAIN_RETURN_IF_ERROR(CheckForm(shard, dense.variable, dense.values, dense.op));
  if (dense.partition == kWholePack) {
    for (const VariableId member : variables_[dense.variable].pack) {
      PSTRAIN_RETURN_IF_ERROR(CheckForm(shard, member, dense.values, dense.op));
    }
  }
  if (dense.values.size() == CountOf(dense.variable, dense.partition)) return OkStatus();
  return InvalidArgumentError(Name(shard, dense.variable) + ": the " + NameOf(dense.op) +
                              " has another size");
}

Status Catalog::CheckRows(ShardId shard, const RowUpdates& rows) const {
  PSTRAIN_RETURN_IF_ERROR(CheckKeys(shard, {rows.variable, rows.keys}));
  PSTRAIN_RETURN_IF_ERROR(CheckForm(shard, rows.variable, rows.values, rows.op));
  // Divided, because a product of foreign numbers may wrap.
  const std::uint64_t dimension = variables_[rows.variable].dimension;
  if (rows.values.size() % dimension == 0 && rows.values.size() / dimension == rows.keys.size()) {
    return OkStatus();
  }
  return InvalidArgumentError(Name(shard, rows.variable) + ": the values of the " +
                              NameOf(rows.op) + " have another size");
}

Status Catalog::Check(const PushRequest& request) const {
  if (request.work_id.batch >= batches_per_epoch_) {
    return InvalidArgumentError("batch " + std::to_string(request.work_id.batch) + " of " +
                                std::to_string(batches_per_epoch_));
  }
  if (request.skipped > request.records) {
    return InvalidArgumentError("more records were skipped than there are");
  }
  PSTRAIN_RETURN_IF_ERROR(CheckGrant(request.grant));
  if (request.grant.after > request.work_id) {
    return InvalidArgumentError("work id " + Text(request.work_id) +
                                " is to come after those below " + Text(request.grant.after) +
                                ", itself among them");
  }
  PSTRAIN_RETURN_IF_ERROR(CheckLeftOut(request));
  std::vector<bool> seen(shards());
  for (const PushSection& section : request.sections) {
    PSTRAIN_RETURN_IF_ERROR(CheckShards(&seen, section.shard));
    if (!Knows(section)) continue;
    for (const DenseUpdate& dense : section.dense) {
      PSTRAIN_RETURN_IF_ERROR(CheckDense(section.shard, dense));
    }
    for (const RowUpdates& rows : section.tables) {
      PSTRAIN_RETURN_IF_ERROR(CheckRows(section.shard, rows));
    }
  }
  return OkStatus();
}

std::size_t Catalog::ReplyBytes(const PullSection& section) const {
  std::size_t bytes = 0;
  if (!Knows(section)) return bytes;
  for (const DenseRead& read : section.dense) {
    bytes += AlignedBytes(CountOf(read.variable, read.partition) * SizeOf(read.dtype));
  }
  for (const RowKeys& rows : section.tables) {
    bytes +=
        AlignedBytes(rows.keys.size() * variables_[rows.variable].dimension * SizeOf(rows.dtype));
  }
  return bytes;
}

}  // namespace pstrain
