#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/requests/ids.h"
#include "runtime/requests/values.h"

namespace pstrain {

/// What a worker asks of a ps, as the shard engine takes it and the worker fills it in. The bytes
/// that it travels as are runtime/wire's affair; the engine, the wire and the worker share only
/// these structs, which know nothing but ids.
///
/// Values, except that spans are views: of memory that whoever fills a request, or hands received
/// bytes on, keeps alive until the reply is there. Nothing here checks whether an id exists or a
/// size fits: Catalog::Check does. Any thread may read a request that nobody changes.

/// In place of a partition's position: all variables of the pack (VariableSpec.pack) whose first
/// one is named, whole, by ascending id, as one array.
inline constexpr std::uint32_t kWholePack = 0xffffffff;

/// A dense partition, by its position in VariableSpec.partitions, or a pack.
struct PartitionRef {
  VariableId variable = 0;
  std::uint32_t partition = 0;
  friend bool operator==(const PartitionRef&, const PartitionRef&) = default;
};

/// Where a dense partition lies: in which shard, and which part of its variable it is.
struct DensePartition {
  PartitionRef ref;
  ShardId shard = 0;
  /// Elements of the variable, row-major: first, and how many.
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// A dense partition or a pack that is to be read, and the dtype that the asker takes its variable
/// to have.
struct DenseRead {
  VariableId variable = 0;
  std::uint32_t partition = 0;
  DType dtype = DType::kFloat32;
  friend bool operator==(const DenseRead&, const DenseRead&) = default;
};

/// Rows of an embedding table, or of axis 0 of a dense variable, that are to be read: those that
/// lie in the shard; global row ids, strictly ascending.
struct RowKeys {
  VariableId variable = 0;
  std::span<const std::uint64_t> keys;
  /// As DenseRead::dtype.
  DType dtype = DType::kFloat32;
};

/// What is wanted from one shard, under the shard term that the worker knows.
struct PullSection {
  ShardId shard = 0;
  ShardTerm term;
  std::vector<DenseRead> dense;
  /// Ascending by variable; several of one variable stay in their order. The answer has the values
  /// in this order.
  std::vector<RowKeys> tables;
};

/// Pieces of work in one message, at most: as many as a worker has in flight.
inline constexpr std::size_t kMostWorksInMessage = 64;

/// Under what the work was granted that a pull or a push is for.
struct GrantContext {
  /// Of the chief that has granted it; 0: the grants of any chief count.
  std::uint64_t chief_term = 0;
  /// The first work id of its phase: every one below must be in a shard's values before the shard
  /// serves it. {0, 0}: it waits for nothing.
  WorkId after = {};
  friend bool operator==(const GrantContext&, const GrantContext&) = default;
};

/// A pull: the values that one piece of work needs from one ps. Pulls for several pieces of small
/// work go out in one message, a vector of these; so do pushes.
struct PullRequest {
  /// Ascending by shard.
  std::vector<PullSection> sections;
  GrantContext grant = {};
};

/// What became of a section of a pull.
enum class PullStatus : std::uint32_t {
  kOk = 0,
  /// This ps does not actively own the shard in that shard term; the values are zeros, to be
  /// ignored.
  kNotOwner = 1,
  /// The shard lacks a work id below GrantContext::after, as one has that was restored from an
  /// older checkpoint, or its ps has not heard of a variable yet (no values then); zeros likewise,
  /// and nothing was changed.
  kEarly = 2,
  /// The shard term is of another chief term than GrantContext::chief_term; zeros likewise.
  kOtherChief = 3,
};

/// What a push does to the elements that it names. The numbers are those of the data plane.
enum class UpdateOp : std::uint16_t {
  /// One step of the variable's optimizer.
  kGradient = 0,
  /// The values of the push, which take the place of those that are there.
  kAssign = 1,
  /// Are added; integers wrap around.
  kAdd = 2,
  /// The smaller, the larger one stays.
  kMin = 3,
  kMax = 4,
};
inline constexpr UpdateOp kLastUpdateOp = UpdateOp::kMax;

/// As a message names it: "gradient".
constexpr const char* NameOf(UpdateOp op) {
  constexpr const char* kNames[] = {"gradient", "assign", "add", "min", "max"};
  return op <= kLastUpdateOp ? kNames[static_cast<std::size_t>(op)] : "an unknown op";
}

/// What a push does to a whole partition, row-major, or to each variable of a pack. The dtype of
/// `values` is the variable's; an optimizer's slots are touched by gradients only.
struct DenseUpdate {
  VariableId variable = 0;
  std::uint32_t partition = 0;
  ValueView values;
  UpdateOp op = UpdateOp::kGradient;
};

/// What a push does to rows of a table or of axis 0 of a dense variable, each of which it names
/// once; gradients are summed over duplicates already.
struct RowUpdates {
  VariableId variable = 0;
  /// Global row ids, strictly ascending; at least one.
  std::span<const std::uint64_t> keys;
  /// keys.size() x dimension.
  ValueView values;
  UpdateOp op = UpdateOp::kGradient;
};

/// What one shard gets of a push, under the shard term that the worker knows.
struct PushSection {
  ShardId shard = 0;
  ShardTerm term;
  /// Carried out in this order, then the tables in theirs. Only what there is something for.
  std::vector<DenseUpdate> dense;
  /// Ascending by variable; several of one variable stay in their order.
  std::vector<RowUpdates> tables;
};

/// A push: what one piece of work, such as a batch, changes in the shards of one ps.
struct PushRequest {
  WorkId work_id;
  /// Records of the work id's range, skipped ones included, and how many of them were skipped.
  std::uint32_t records = 0;
  std::uint32_t skipped = 0;
  /// 0, or all records that were not skipped: the batch is left out, because its loss or a gradient
  /// is infinite or not a number. Every shard remembers its work id, and no section carries
  /// anything. A gradient that comes later takes its place: of a batch that is computed again from
  /// other values, either every shard gets the gradient in the end or none.
  std::uint32_t non_finite = 0;
  GrantContext grant = {};
  /// One per shard that is to have the work id, also when it carries nothing; ascending by shard.
  std::vector<PushSection> sections;
};

/// What became of a section of a push.
enum class PushStatus : std::uint32_t {
  kApplied = 0,
  /// The shard had the work id already; nothing was changed.
  kDuplicate = 1,
  /// As PullStatus::kNotOwner; nothing was changed.
  kNotOwner = 2,
  /// The push leaves the batch out, and the shard has its gradient already: another worker has
  /// computed it from other values. Nothing was changed.
  kHasGradient = 3,
  /// As PullStatus::kEarly and kOtherChief; nothing was changed.
  kEarly = 4,
  kOtherChief = 5,
};

/// The answer to the pushes of one message.
struct PushReply {
  /// Number of the membership that the ps knows; 0: none.
  std::uint64_t membership = 0;
  /// One per section of each piece of work, in their order.
  std::vector<PushStatus> statuses;
  /// Pushes that this ps has applied since it started, on average over the shards that it has. The
  /// growth from a pull to a push is what the gradient did not know of.
  std::uint64_t updates = 0;
};

}  // namespace pstrain
