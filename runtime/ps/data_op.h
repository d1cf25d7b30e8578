#pragma once

#include <cstdint>

namespace pstrain {

/// The op of a data-plane frame between a worker and a ps; bodies as in data_plane.h.
enum class DataOp : std::uint16_t {
  /// PullRequest -> PullReply.
  kPull = 1,
  /// PushRequest -> PushReply.
  kPush = 2,
};

}  // namespace pstrain
