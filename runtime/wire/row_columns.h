#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/requests/ids.h"
#include "runtime/requests/requests.h"
#include "runtime/requests/values.h"

namespace pstrain::data_plane_format {

/// How the requests of one message are laid out: what many sections have in common is written once.
/// The encoder's own; views of the requests. Plain data and pure functions; any thread.

/// Keys of one shard, which is named by its place among the message's shards.
struct ShardKeys {
  std::uint32_t place = 0;
  std::span<const std::uint64_t> keys;
};

/// Rows by shard, ascending by place.
struct KeyList {
  std::vector<ShardKeys> shards;
  /// Of all shards.
  std::size_t keys = 0;
  /// Some key needs 8 bytes.
  bool wide = false;
  /// Parts that refer to it.
  std::uint32_t uses = 0;
};

/// What one piece of work reads or changes of a table, at all shards of the message.
struct RowColumn {
  VariableId variable = 0;
  DType dtype = DType::kFloat32;
  UpdateOp op = UpdateOp::kGradient;
  /// Its position in MessagePlan::lists.
  std::uint32_t list = 0;
  /// By shard; none in a pull.
  std::vector<ValueView> values;
  std::size_t elements = 0;
};

struct WorkPlan {
  /// The place of each section, ascending, and the same as a bit for each shard of the message.
  std::vector<std::uint32_t> places;
  std::vector<std::uint64_t> mask;
  std::size_t dense = 0;
  /// Ascending by variable.
  std::vector<RowColumn> columns;
};

struct MessagePlan {
  std::vector<ShardInTerm> shards;
  std::vector<KeyList> lists;
  std::vector<WorkPlan> works;
};

/// REQUIRES: as EncodePullRequest.
MessagePlan PlanOf(std::span<const PullRequest> works);
MessagePlan PlanOf(std::span<const PushRequest> works);

}  // namespace pstrain::data_plane_format
