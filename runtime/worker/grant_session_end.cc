// How a worker's conversation with the chief ends.
#include <chrono>

#include "base/clock.h"
#include "proto/contract/exit_codes.h"
#include "runtime/worker/grant_session.h"

namespace pstrain {
namespace {

/// Between two looks whether the chief has ended the session.
constexpr std::chrono::milliseconds kLook{200};
/// How long a worker that fails waits for the chief to hear why and what it gives back.
constexpr std::chrono::seconds kLastWord{5};

}  // namespace

void GrantSession::WaitForEnd(std::chrono::milliseconds timeout) const {
  const SteadyTime deadline = SteadyNow() + timeout;
  const MutexLock lock(mutex_);
  while (end_ == SessionEnd::kNone && changed_.WaitUntil(mutex_, deadline)) {
  }
}

void GrantSession::Settle() const {
  const SteadyTime deadline = SteadyNow() + context_.grace - std::chrono::seconds(2);
  while (end() == SessionEnd::kNone && SteadyNow() < deadline) WaitForEnd(kLook);
}

void GrantSession::SettleFailure() const { WaitForEnd(kLastWord); }

Result<int> GrantSession::ExitCode() const {
  switch (end()) {
    case SessionEnd::kFinished:
      return kExitSuccess;
    case SessionEnd::kReplaced:
      return kExitDisrupted;
    case SessionEnd::kFailed:
      return status();
    default:
      return kExitDrained;
  }
}

SessionEnd GrantSession::end() const {
  const MutexLock lock(mutex_);
  return end_;
}

Status GrantSession::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

}  // namespace pstrain
