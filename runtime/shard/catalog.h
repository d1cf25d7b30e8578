#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "runtime/requests/ids.h"
#include "runtime/requests/requests.h"
#include "runtime/shard/optimizer.h"
#include "runtime/shard/values/initial_values.h"

namespace pstrain {

/// A variable of a catalog, with everything that is derived from its spec.
struct CatalogVariable {
  VariableSpec spec;
  bool embedding = false;
  DType dtype = DType::kFloat32;
  /// EMBEDDING: rows and their length. DENSE: elements of axis 0 and of one step along it.
  std::uint64_t rows = 0;
  std::uint64_t dimension = 0;
  /// Null: the variable takes no gradients.
  std::shared_ptr<const OptimizerRule> optimizer;
  InitialValues initial;
  /// DENSE: in the order of spec.partitions.
  std::vector<DensePartition> partitions;

  /// Of the optimizer; none where there is none.
  std::span<const OptimizerSlot> slots() const {
    return optimizer == nullptr ? std::span<const OptimizerSlot>() : optimizer->slots();
  }
};

/// The variables of a run, checked and prepared: what every request, state and checkpoint is held
/// against before it may touch a shard. After Check the engine indexes with what a request says
/// and tests nothing again. Immutable; any thread.
class Catalog {
 public:
  /// INVALID_ARGUMENT names the variable: ids that are not positions, a repeated name, a shape
  /// without elements, partitions that do not cover axis 0 or lie in a shard that does not exist,
  /// an unknown dtype or an optimizer that does not take it.
  static Result<std::shared_ptr<const Catalog>> Create(const std::vector<VariableSpec>& variables,
                                                       std::uint32_t shards,
                                                       std::uint32_t batches_per_epoch);

  std::uint32_t shards() const { return shards_; }
  std::uint32_t batches_per_epoch() const { return batches_per_epoch_; }
  /// By id.
  const std::vector<CatalogVariable>& variables() const { return variables_; }
  const CatalogVariable* FindByName(const std::string& name) const;
  /// The dense partitions of a shard, by (variable, partition).
  const std::vector<PartitionRef>& DenseOf(ShardId shard) const { return dense_of_[shard]; }
  /// Same variables, shards and batches.
  bool Equals(const Catalog& other) const;

  /// OK when every part exists, lies in its section's shard and has the right size and dtype, no
  /// shard occurs twice, no gradient is for a variable without an optimizer and no work id waits
  /// for itself; INVALID_ARGUMENT says what does not hold.
  Status Check(const PullRequest& request) const;
  Status Check(const PushRequest& request) const;
  /// Bytes of the values of the reply to a section that passed Check: each array begins at a
  /// multiple of kArrayAlignment.
  std::size_t ReplyBytes(const PullSection& section) const;

 private:
  Status CheckGrant(const GrantContext& grant) const;
  Status CheckShards(std::vector<bool>* seen, ShardId shard) const;
  Status CheckPartition(ShardId shard, const PartitionRef& ref) const;
  Status CheckDType(ShardId shard, VariableId variable, DType dtype) const;
  Status CheckDense(ShardId shard, const DenseUpdate& dense) const;
  Status CheckRows(ShardId shard, const RowUpdates& rows) const;
  Status CheckForm(ShardId shard, VariableId variable, const ValueView& values, UpdateOp op) const;
  Status CheckKeys(ShardId shard, const RowKeys& keys) const;

  std::uint32_t shards_ = 0;
  std::uint32_t batches_per_epoch_ = 0;
  std::vector<CatalogVariable> variables_;
  std::vector<std::vector<PartitionRef>> dense_of_;
};

}  // namespace pstrain
