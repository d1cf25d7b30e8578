#include "library/coordinator/calls/missed_calls.h"

namespace pstrain {

Status MissedCalls::ErrorOf(std::uint64_t call, const std::string& name,
                            std::chrono::milliseconds deadline) const {
  const auto found = missed_.find(call);
  if (found == missed_.end() || found->second.workers.size() < kMostAttempts) return OkStatus();
  return ErrorOn(found->second.workers, name, deadline);
}

Status MissedCalls::ErrorOn(const std::vector<std::uint32_t>& workers, const std::string& name,
                            std::chrono::milliseconds deadline) {
  std::string names;
  for (const std::uint32_t worker : workers) {
    names += (names.empty() ? "" : ", ") + std::string("worker ") + std::to_string(worker);
  }
  return DeadlineExceededError(
      (name.empty() ? "the function" : name) + " had not returned after its deadline of " +
      std::to_string(deadline.count()) + " ms in each of " + std::to_string(workers.size()) +
      " attempts, on " + names +
      "; raise FunctionOptions.deadline, or see what the function waits for");
}

std::vector<std::uint64_t> MissedCalls::Waited(ProtocolTime now) {
  std::vector<std::uint64_t> waited;
  for (auto& [call, attempts] : missed_) {
    if (!attempts.waits) continue;
    if (!attempts.since) attempts.since = now;
    if (now - *attempts.since < kElsewhere) continue;
    attempts.waits = false;
    waited.push_back(call);
  }
  return waited;
}

}  // namespace pstrain
