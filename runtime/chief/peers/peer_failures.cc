#include "runtime/chief/peers/peer_failures.h"

#include <cmath>
#include <string>

namespace pstrain {
namespace {

Status Failure(const std::string& peer, const std::string& message) {
  return message.empty() ? OkStatus() : FailedPreconditionError(peer + ": " + message);
}

}  // namespace

Status FailureOf(const HeartbeatPsRequest& request) {
  return Failure("ps " + std::to_string(request.index()), request.failure());
}

Status FailureOf(const PollWorkerRequest& request) {
  return Failure("worker " + std::to_string(request.index()), request.failure());
}

Status FailureOf(const PollEvaluatorRequest& request) {
  PSTRAIN_RETURN_IF_ERROR(Failure("evaluator", request.failure()));
  for (const auto& [name, value] : request.metrics()) {
    if (std::isfinite(value)) continue;
    return Failure("evaluator", "checkpoint " + request.checkpoint() + ": " + name + " is " +
                                    std::to_string(value));
  }
  return OkStatus();
}

}  // namespace pstrain
