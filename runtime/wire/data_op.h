#pragma once

#include <cstdint>

namespace pstrain {

/// The op of a data-plane frame between a worker and a ps, bodies as in data_plane.h; or
/// between two ps, bodies as in runtime/ps/shard_transfer.h.
enum class DataOp : std::uint16_t {
  /// PullRequest -> PullReply.
  kPull = 1,
  /// PushRequest -> PushReply.
  kPush = 2,
  /// A shard in its term -> its state. The shard is not served any more.
  kFetch = 3,
};

}  // namespace pstrain
