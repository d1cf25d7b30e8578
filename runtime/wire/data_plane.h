#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "runtime/ids.h"
#include "runtime/wire/wire_buffer.h"

namespace pstrain {

/// The bodies of the four messages between a worker and a ps. Little-endian; every part begins at a
/// multiple of 8 bytes from the start of the body, padding and reserved fields are zero.
///
///   header        u32 kind, u32 sections, then
///                 PullRequest  -
///                 PullReply    u64 membership, u64 updates
///                 PushRequest  u32 epoch, u32 batch, u32 records, u32 skipped
///                 PushReply    u64 membership, u64 updates
///   PullRequest   per section: u32 shard, u32 dense, u64 term.chief_term, u64 term.counter, u32
///   tables, u32 0
///                   dense  x {u32 variable, u32 partition}
///                   tables x {u32 variable, u32 0, u64 keys, u64 key x keys}
///   PullReply     per section: u32 shard, u32 status, u64 floats, float x floats, padding
///   PushRequest   per section: as PullRequest's, then
///                   dense  x {u32 variable, u32 partition, u64 floats, float x floats, padding}
///                   tables x {u32 variable, u32 0, u64 keys, u64 floats, u64 key x keys,
///                             float x floats, padding}
///   PushReply     per section: u32 shard, u32 status
///
/// A body ends with its last section. The structs below serve both sides: a sender fills them and
/// calls Encode..., a receiver gets them from Parse... as views of its bytes, which must outlive
/// them. Parse... never crashes: INVALID_ARGUMENT for everything that Encode... does not write, and
/// for bytes that do not begin at a multiple of 8. What ids mean (unknown variables, wrong sizes)
/// is checked by ShardEngine. Pure functions; any thread.

/// A dense partition, by its position in VariableSpec.partitions.
struct PartitionRef {
  VariableId variable = 0;
  std::uint32_t partition = 0;
  friend bool operator==(const PartitionRef&, const PartitionRef&) = default;
};

/// Rows of an embedding table; global row ids, strictly ascending.
struct RowKeys {
  VariableId variable = 0;
  std::span<const std::uint64_t> keys;
};

/// What is wanted from one shard under the term in which the worker knows it.
struct PullSection {
  ShardId shard = 0;
  ShardTerm term;
  std::vector<PartitionRef> dense;
  std::vector<RowKeys> tables;
};

struct PullRequest {
  std::vector<PullSection> sections;
};

enum class PullStatus : std::uint32_t {
  kOk = 0,
  /// This ps does not actively own the shard in that term; the values are zeros, to be ignored.
  kNotOwner = 1,
};

struct PullReplySection {
  ShardId shard = 0;
  PullStatus status = PullStatus::kOk;
  /// The partitions in the request's order, each row-major, then the rows in the request's order.
  std::span<const float> values;
};

/// One section per section of the request, in its order.
struct PullReply {
  /// Number of the membership that the ps knows; 0: none.
  std::uint64_t membership = 0;
  std::vector<PullReplySection> sections;
  /// Pushes that this ps has applied since it started, on average over the shards that it has. The
  /// growth from a pull to a push is what the gradient did not know of.
  std::uint64_t updates = 0;
};

/// The gradient of a whole partition, row-major.
struct DenseGradient {
  VariableId variable = 0;
  std::uint32_t partition = 0;
  std::span<const float> values;
};

/// Gradients of rows of a table, already summed over duplicates.
struct RowGradients {
  VariableId variable = 0;
  /// Global row ids, strictly ascending.
  std::span<const std::uint64_t> keys;
  /// keys.size() x dimension.
  std::span<const float> values;
};

struct PushSection {
  ShardId shard = 0;
  ShardTerm term;
  std::vector<DenseGradient> dense;
  std::vector<RowGradients> tables;
};

struct PushRequest {
  WorkId work_id;
  /// Records of the work id's range, skipped ones included, and how many of them were skipped.
  std::uint32_t records = 0;
  std::uint32_t skipped = 0;
  /// One per shard that is to have the work id, also when it carries nothing.
  std::vector<PushSection> sections;
};

enum class PushStatus : std::uint32_t {
  kApplied = 0,
  /// The shard had the work id already; nothing was changed.
  kDuplicate = 1,
  /// As PullStatus::kNotOwner; nothing was changed.
  kNotOwner = 2,
};

struct PushReplySection {
  ShardId shard = 0;
  PushStatus status = PushStatus::kApplied;
  friend bool operator==(const PushReplySection&, const PushReplySection&) = default;
};

/// One section per section of the request, in its order.
struct PushReply {
  std::uint64_t membership = 0;
  std::vector<PushReplySection> sections;
  /// As PullReply::updates.
  std::uint64_t updates = 0;
};

/// REQUIRES: fewer than 2^32 of anything that is counted in 32 bits.
WireBuffer EncodePullRequest(const PullRequest& request);
WireBuffer EncodePullReply(const PullReply& reply);
WireBuffer EncodePushRequest(const PushRequest& request);
WireBuffer EncodePushReply(const PushReply& reply);

Result<PullRequest> ParsePullRequest(std::span<const std::byte> bytes);
Result<PullReply> ParsePullReply(std::span<const std::byte> bytes);
Result<PushRequest> ParsePushRequest(std::span<const std::byte> bytes);
Result<PushReply> ParsePushReply(std::span<const std::byte> bytes);

/// A PullReply that is filled in place: the sizes are known first, then each section's values are
/// written, by different threads if they keep to their sections.
class PullReplyWriter {
 public:
  /// `shards` and `floats` in parallel, one per section. All values are uninitialised.
  PullReplyWriter(std::span<const ShardId> shards, std::span<const std::size_t> floats);

  /// Where the values of a section go. Never aliases another section's.
  std::span<float> values(std::size_t section);
  void set_status(std::size_t section, PullStatus status);
  void set_membership(std::uint64_t number);
  void set_updates(std::uint64_t updates);
  /// The finished message. REQUIRES: all values are written, no other call is under way.
  WireBuffer Take() { return std::move(buffer_); }

 private:
  WireBuffer buffer_;
  std::vector<std::size_t> offsets_;  // of each section's header
};

}  // namespace pstrain
