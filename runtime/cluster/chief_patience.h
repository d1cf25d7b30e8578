#pragma once

#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/seconds.h"
#include "base/status.h"
#include "runtime/cluster/role_context.h"

namespace pstrain {

/// How long a peer keeps asking a chief that does not answer: spec.training.peerTimeoutSeconds.
/// Owner: the conversation with the chief; one thread.
class ChiefPatience {
 public:
  explicit ChiefPatience(const RoleContext& context)
      : chief_address_(context.chief_address), limit_(context.peer_timeout()) {}

  /// The chief has answered.
  void Renew() { last_answer_ = SteadyNow(); }
  /// DEADLINE_EXCEEDED when the last answer, or the start, is too long ago.
  Status Check() const {
    if (SteadyNow() - last_answer_ <= limit_) return OkStatus();
    return DeadlineExceededError("the chief at " + chief_address_ +
                                 " did not answer within spec.training.peerTimeoutSeconds (" +
                                 WholeSeconds(limit_) + ")");
  }

 private:
  const std::string chief_address_;
  const std::chrono::seconds limit_;
  SteadyTime last_answer_ = SteadyNow();
};

}  // namespace pstrain
