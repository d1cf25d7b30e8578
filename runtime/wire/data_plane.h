#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "runtime/requests/ids.h"
#include "runtime/requests/requests.h"
#include "runtime/wire/wire_buffer.h"

namespace pstrain {

/// The bodies of the four messages between a worker and a ps. Little-endian; every part begins at a
/// multiple of 8 bytes from the start of the body, padding and reserved fields are zero.
///
/// A request is for some pieces of work (one batch of built-in training), and says once what they
/// have in common: the shards with their terms, and the keys. Shards are named by their places in
/// `shards` from then on, sets of them by a mask, a bit each in u64 words.
///
///   request   u32 kind, u32 works, u64 chief_term, u32 shards, u32 lists,
///             shards x {u64 term.chief_term, u64 term.counter}, u32 shard x shards (ascending)
///             lists x list, works x work
///   list      u64 keys, u32 width, u32 0, mask, u32 count for each shard of the mask,
///             key x keys, of 4 bytes where all keys of the list fit, else of 8 (width)
///   work      push: u32 epoch, u32 batch, u32 records, u32 skipped, u32 non_finite, u32 0
///             u32 after.epoch, u32 after.batch, u32 dense, u32 rows, mask of its sections,
///   of a pull   dense x {u32 place, u32 variable, u32 partition, u32 dtype}
///               rows  x {u32 variable, u32 list, u32 dtype, u32 0}
///   of a push   dense x {u32 place, u32 variable, u32 partition, u16 dtype, u16 op, u64 elements,
///                        elements}
///               rows  x {u32 variable, u32 list, u16 dtype, u16 op, u32 0, u64 elements, elements}
///   reply     u32 kind, u32 sections, u64 membership, u64 updates, u8 status x sections
///             of a pull: u64 bytes x sections, then the bytes of each section
///
/// A part with rows is for all shards of its list: its elements are those of the first shard's
/// keys, then those of the next. Parts ascend by variable. Variables whose rows lie in the same
/// shards, and are the same, share a list, four parts at most. A part is there only where there is
/// something. The sections of a reply are those of the first work, then those of the next.
///
/// A body ends with its last part. The structs (runtime/requests/requests.h and PullReply below)
/// serve both sides: a sender fills them and calls Encode..., a receiver gets them from Parse... as
/// views of its bytes, which must outlive them: rows and gradients are never copied between the
/// socket and the shard, only keys of 4 bytes are widened. Parse... never crashes: INVALID_ARGUMENT
/// for what Encode... does not write, and for bytes that do not begin at a multiple of 8. What it
/// makes is in proportion to the bytes (data_plane_format.h). Whether ids exist and sizes fit is
/// checked by ShardEngine, which gets the structs and never sees the bytes. Pure functions; any
/// thread.

/// The requests of one message. Movable: then its spans still hold.
template <typename Request>
struct RequestMessage {
  RequestMessage() = default;
  RequestMessage(RequestMessage&&) = default;
  RequestMessage& operator=(RequestMessage&&) = default;
  std::vector<Request> works;
  /// What spans of keys refer to that came as 4 bytes each.
  std::vector<std::vector<std::uint64_t>> keys;
};
using PullMessage = RequestMessage<PullRequest>;
using PushMessage = RequestMessage<PushRequest>;

/// The answer of one shard to a pull.
struct PullReplySection {
  PullStatus status = PullStatus::kOk;
  /// The partitions in the request's order, each row-major, then the rows in the request's order;
  /// each array begins at a multiple of kArrayAlignment, with zeros before it.
  std::span<const std::byte> values;
};

/// One section per section of each piece of work, in their order.
struct PullReply {
  /// As in PushReply.
  std::uint64_t membership = 0;
  std::vector<PullReplySection> sections;
  std::uint64_t updates = 0;
};

/// REQUIRES: at most kMostWorksInMessage works, of one GrantContext::chief_term, that name a shard
/// in one term; fewer than 2^32 of anything that is counted in 32 bits.
WireBuffer EncodePullRequest(std::span<const PullRequest> works);
WireBuffer EncodePushRequest(std::span<const PushRequest> works);
/// For one piece of work.
inline WireBuffer EncodePullRequest(const PullRequest& work) {
  return EncodePullRequest(std::span(&work, 1));
}
inline WireBuffer EncodePushRequest(const PushRequest& work) {
  return EncodePushRequest(std::span(&work, 1));
}
WireBuffer EncodePullReply(const PullReply& reply);
WireBuffer EncodePushReply(const PushReply& reply);

Result<PullMessage> ParsePullRequest(std::span<const std::byte> bytes);
Result<PushMessage> ParsePushRequest(std::span<const std::byte> bytes);
Result<PullReply> ParsePullReply(std::span<const std::byte> bytes);
Result<PushReply> ParsePushReply(std::span<const std::byte> bytes);

/// A PullReply that is filled in place: the sizes are known first, then each section's values are
/// written, by different threads if they keep to their sections.
class PullReplyWriter {
 public:
  PullReplyWriter() = default;
  /// `bytes`: of the values of each section of the request, which are uninitialised.
  explicit PullReplyWriter(std::span<const std::size_t> bytes);

  /// Where the values of a section go. Never aliases another section's.
  std::span<std::byte> values(std::size_t section);
  void set_status(std::size_t section, PullStatus status);
  void set_membership(std::uint64_t number);
  void set_updates(std::uint64_t updates);
  /// The finished message. REQUIRES: all values are written, no other call is under way.
  WireBuffer Take() { return std::move(buffer_); }

 private:
  WireBuffer buffer_;
  std::vector<std::pair<std::size_t, std::size_t>>
      places_;  // of each section's values: where, bytes
};

}  // namespace pstrain
