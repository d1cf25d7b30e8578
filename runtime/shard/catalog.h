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
#include "runtime/requests/routing.h"
#include "runtime/shard/optimizer.h"
#include "runtime/shard/values/initial_values.h"

namespace pstrain {

/// A variable of a catalog, with everything that is derived from its spec.
struct CatalogVariable {
  VariableSpec spec;
  bool embedding = false;
  /// RouteOf its name.
  std::uint64_t route = 0;
  DType dtype = DType::kFloat32;
  /// EMBEDDING: rows and their length. DENSE: elements of axis 0 and of one step along it.
  std::uint64_t rows = 0;
  std::uint64_t dimension = 0;
  /// Null: the variable takes no gradients.
  std::shared_ptr<const OptimizerRule> optimizer;
  InitialValues initial;
  /// DENSE: in the order of spec.partitions.
  std::vector<DensePartition> partitions;
  /// Of the first one of a pack: all of it, by ascending id, and their elements.
  std::vector<VariableId> pack;
  std::uint64_t pack_elements = 0;

  /// DENSE: the position of the partition that has this row of axis 0. REQUIRES: row < rows.
  std::uint32_t PartitionOf(std::uint64_t row) const;

  /// Of the optimizer; none where there is none.
  std::span<const OptimizerSlot> slots() const {
    return optimizer == nullptr ? std::span<const OptimizerSlot>() : optimizer->slots();
  }
};

/// The variables of a run, checked and prepared: what every request, state and checkpoint is held
/// against before it may touch a shard. After Check the engine indexes with what a request says
/// and tests nothing again. A run's catalog grows: each later one begins with the variables of the
/// one before (Extends), whose ids, places and initial values stay. Immutable; any thread.
class Catalog {
 public:
  /// INVALID_ARGUMENT names the variable: ids that are not positions, a repeated name, a shape
  /// without elements, partitions that do not cover axis 0 or lie in a shard that does not exist,
  /// an unknown dtype or an optimizer that does not take it, a pack whose variables do not fit each
  /// other.
  static Result<std::shared_ptr<const Catalog>> Create(const std::vector<VariableSpec>& variables,
                                                       std::uint32_t shards,
                                                       std::uint32_t batches_per_epoch);

  std::uint32_t shards() const { return modulus_.shards(); }
  /// By it; made once, for the many rows that are looked for.
  const ShardModulus& modulus() const { return modulus_; }
  std::uint32_t batches_per_epoch() const { return batches_per_epoch_; }
  /// By id.
  const std::vector<CatalogVariable>& variables() const { return variables_; }
  const CatalogVariable* FindByName(const std::string& name) const;
  /// The dense partitions of a shard, by (variable, partition).
  const std::vector<PartitionRef>& DenseOf(ShardId shard) const { return dense_of_[shard]; }
  /// Same shards and batches, and the first variables are those of `older`.
  bool Extends(const Catalog& older) const;

  /// False: the section names a variable that this catalog does not have; a later one may.
  bool Knows(const PullSection& section) const;
  bool Knows(const PushSection& section) const;
  /// OK when every part exists, lies in its section's shard and has the right size and dtype, no
  /// shard occurs twice, no gradient is for a variable without an optimizer and no work id waits
  /// for itself; INVALID_ARGUMENT says what does not hold. Parts of sections that it does not know
  /// are not looked at.
  Status Check(const PullRequest& request) const;
  Status Check(const PushRequest& request) const;
  /// Bytes of the values of the reply to a section that passed Check: each array begins at a
  /// multiple of kArrayAlignment. 0 of one that it does not know.
  std::size_t ReplyBytes(const PullSection& section) const;

 private:
  Status JoinPack(const CatalogVariable& variable);
  /// Elements of a part that exists.
  std::uint64_t CountOf(VariableId variable, std::uint32_t partition) const {
    const CatalogVariable& of = variables_[variable];
    return partition == kWholePack ? of.pack_elements : of.partitions[partition].count;
  }
  Status CheckGrant(const GrantContext& grant) const;
  Status CheckShards(std::vector<bool>* seen, ShardId shard) const;
  Status CheckPartition(ShardId shard, const PartitionRef& ref) const;
  Status CheckDType(ShardId shard, VariableId variable, DType dtype) const;
  Status CheckDense(ShardId shard, const DenseUpdate& dense) const;
  Status CheckRows(ShardId shard, const RowUpdates& rows) const;
  Status CheckForm(ShardId shard, VariableId variable, const ValueView& values, UpdateOp op) const;
  Status CheckKeys(ShardId shard, const RowKeys& keys) const;

  ShardModulus modulus_{1};
  std::uint32_t batches_per_epoch_ = 0;
  std::vector<CatalogVariable> variables_;
  std::vector<std::vector<PartitionRef>> dense_of_;
};

}  // namespace pstrain
