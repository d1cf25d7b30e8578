#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "runtime/requests/ids.h"
#include "runtime/requests/requests.h"
#include "runtime/wire/wire_buffer.h"

namespace pstrain {

/// The bodies of the four messages between a worker and a ps. Little-endian; every part begins at a
/// multiple of 8 bytes from the start of the body, padding and reserved fields are zero.
///
///   header        u32 kind, u32 sections, then
///                 PullRequest  grant
///                 PullReply    u64 membership, u64 updates
///                 PushRequest  grant, u32 epoch, u32 batch, u32 records, u32 skipped,
///                              u32 non_finite, u32 0
///                 PushReply    u64 membership, u64 updates
///   grant         u64 chief_term, u32 after.epoch, u32 after.batch
///   PullRequest   per section: u32 shard, u32 dense, u64 term.chief_term, u64 term.counter, u32
///   tables, u32 0
///                   dense  x {u32 variable, u32 partition, u32 dtype, u32 0}
///                   tables x {u32 variable, u32 dtype, u64 keys, u64 key x keys}
///   PullReply     per section: u32 shard, u32 status, u64 bytes, bytes, padding
///   PushRequest   per section: as PullRequest's, then
///                   dense  x {u32 variable, u32 partition, u16 dtype, u16 op, u32 0,
///                             u64 elements, elements, padding}
///                   tables x {u32 variable, u16 dtype, u16 op, u64 keys, u64 elements,
///                             u64 key x keys, elements, padding}
///   PushReply     per section: u32 shard, u32 status
///
/// A part of a section (dense, tables) is there only where there is something: a table is never
/// named without keys, nor values without elements.
///
/// A body ends with its last section. The structs (runtime/requests/requests.h and PullReply below)
/// serve both sides: a sender fills them and calls Encode..., a receiver gets them from Parse... as
/// views of its bytes, which must outlive them: rows and gradients are never copied between the
/// socket and the shard. Parse... never crashes: INVALID_ARGUMENT for everything that Encode...
/// does not write, and for bytes that do not begin at a multiple of 8. Whether ids exist and sizes
/// fit is checked by ShardEngine, which gets the structs and never sees the bytes. Pure functions;
/// any thread.

/// The answer of one shard to a pull.
struct PullReplySection {
  ShardId shard = 0;
  PullStatus status = PullStatus::kOk;
  /// The partitions in the request's order, each row-major, then the rows in the request's order;
  /// each array begins at a multiple of kArrayAlignment, with zeros before it.
  std::span<const std::byte> values;
};

/// One section per section of the request, in its order.
struct PullReply {
  /// As in PushReply.
  std::uint64_t membership = 0;
  std::vector<PullReplySection> sections;
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
  PullReplyWriter() = default;
  /// The reply to `request`; `bytes`: of the values of each of its sections, which are
  /// uninitialised.
  PullReplyWriter(const PullRequest& request, std::span<const std::size_t> bytes);

  /// Where the values of a section go. Never aliases another section's.
  std::span<std::byte> values(std::size_t section);
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
