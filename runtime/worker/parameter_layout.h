#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "runtime/requests/ids.h"
#include "runtime/requests/requests.h"
#include "runtime/requests/routing.h"
#include "runtime/requests/values.h"
#include "runtime/worker/step_data.h"

namespace pstrain {

/// The rows of one RowAccess, put together by shard.
struct RoutedRequest {
  VariableId variable = 0;
  DType dtype = DType::kFloat32;
  std::size_t dimension = 0;
  /// Those of shard s are [begin[s], begin[s + 1]), ascending: the key of each row, and its place
  /// in RowAccess::rows.
  std::vector<std::uint32_t> begin;
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> places;

  std::size_t count(ShardId shard) const { return begin[shard + 1] - begin[shard]; }
  std::size_t row_bytes() const { return dimension * SizeOf(dtype); }
};

/// A dense part that is read, and the shard that has it.
struct RoutedPart {
  ShardId shard = 0;
  /// Of a pack its first variable, and kWholePack.
  PartitionRef ref;
};

/// What a step reads, and where that lies: as large as what is read, however many variables there
/// are. Made once per work id, for its pull and its push. A value.
struct RoutedPlan {
  /// As StepAccess::dense.
  std::vector<VariableId> dense;
  /// What is read of these; a pack of which all variables are read is one part. Ascending by shard,
  /// variable and partition: the order of a section's dense parts.
  std::vector<RoutedPart> parts;
  /// Parallel to StepAccess::requests.
  std::vector<RoutedRequest> requests;
  /// Positions in `requests`, ascending by variable: the order of a section's tables.
  std::vector<std::uint32_t> order;

  /// In `dense`. REQUIRES: the variable is there.
  std::size_t PlaceOf(VariableId variable) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(dense, variable) - dense.begin());
  }
  /// Those that the shard has.
  std::span<const RoutedPart> PartsOf(ShardId shard) const {
    const auto found = std::ranges::equal_range(parts, shard, {}, &RoutedPart::shard);
    return {found.begin(), found.end()};
  }
  /// The shard has neither a dense part that is read nor a row.
  bool LeavesOut(ShardId shard) const {
    const auto has_none = [shard](const RoutedRequest& rows) { return rows.count(shard) == 0; };
    return PartsOf(shard).empty() && std::ranges::all_of(requests, has_none);
  }
  /// Rows of all requests.
  std::size_t rows() const {
    std::size_t rows = 0;
    for (const RoutedRequest& request : requests) rows += request.keys.size();
    return rows;
  }
};

/// What a push brings that has to be put together first. A value.
struct GatheredUpdates {
  struct Pack {
    std::size_t pack = 0;
    UpdateOp op = UpdateOp::kGradient;
    ValueArray values;
  };
  /// Parallel to StepUpdates::rows, each in the order of RoutedRequest::keys.
  std::vector<ValueArray> rows;
  /// Positions in StepUpdates::rows, ascending by variable; several of one stay in their order.
  std::vector<std::uint32_t> order;
  std::vector<Pack> packs;
  /// Parallel to StepUpdates::dense: it is in one of `packs`.
  std::vector<bool> packed;
};

/// Where the parameters of a run lie: which shard has which partition of which variable. Immutable
/// after Create; any thread.
class ParameterLayout {
 public:
  /// INVALID_ARGUMENT names the variable that does not hold together.
  static Result<ParameterLayout> Create(const std::vector<VariableSpec>& variables,
                                        std::uint32_t shards);

  std::uint32_t shards() const { return shards_.shards(); }

  /// INVALID_ARGUMENT: rows that a dense variable does not have, or among the dense ones a table,
  /// or one that is not behind the one before it.
  Result<RoutedPlan> Route(const StepAccess& access) const;
  /// Room for every value that the plan reads.
  StepValues Allocate(const RoutedPlan& plan) const;
  /// INVALID_ARGUMENT when `updates` are not of the variables' and rows' sizes and dtypes.
  Status CheckUpdates(const RoutedPlan& plan, const StepUpdates& updates) const;

  /// What a pull asks of the shard; refers to `plan`.
  PullSection MakePullSection(ShardId shard, ShardTerm term, const RoutedPlan& plan) const;
  /// Bytes of the answer to it.
  std::size_t ReplyBytes(ShardId shard, const RoutedPlan& plan) const;
  /// Copies the answer to its places. INTERNAL when it has another size. REQUIRES: `to` is of
  /// Allocate(plan).
  Status Scatter(ShardId shard, std::span<const std::byte> values, const RoutedPlan& plan,
                 StepValues& to) const;

  /// Updates of rows, and of packs of which all variables are updated by the same op, once.
  /// REQUIRES: CheckUpdates is OK.
  GatheredUpdates Gather(const RoutedPlan& plan, const StepUpdates& updates) const;
  /// What a push brings the shard; refers to `plan`, `updates` and `gathered`, which is what Gather
  /// made of them.
  PushSection MakePushSection(ShardId shard, ShardTerm term, const RoutedPlan& plan,
                              const StepUpdates& updates, const GatheredUpdates& gathered) const;

 private:
  /// Variables that share a part, by ascending id.
  struct Pack {
    std::vector<DensePartition> partitions;
    std::size_t elements = 0;
  };
  static constexpr std::size_t kNoPack = ~std::size_t{0};

  Status JoinPack(const VariableSpec& spec);
  /// Calls part(DenseRead, its partitions) for each dense part that a pull asks of the shard.
  template <typename Part>
  void ForEachPart(ShardId shard, const RoutedPlan& plan, Part part) const;
  void GatherPacks(const StepUpdates& updates, GatheredUpdates* gathered) const;

  /// Of the dense variables of the plan.
  std::vector<RoutedPart> PartsOf(std::span<const VariableId> dense) const;

  ShardModulus shards_{1};
  std::vector<Pack> packs_;           // in the order of their first variables
  std::vector<std::size_t> pack_of_;  // by variable; kNoPack: it has none
  // By variable.
  std::vector<std::vector<DensePartition>> parts_of_;
  std::vector<std::uint64_t> route_;
  std::vector<DType> dtype_;
  ShardId ShardOfDense(VariableId variable, std::uint64_t row) const;
  bool IsDense(VariableId variable) const {
    return variable < elements_.size() && elements_[variable] != 0;
  }

  std::vector<std::size_t> dimension_;  // of a row
  std::vector<std::size_t> elements_;   // of all of it; 0 for tables
};

}  // namespace pstrain
