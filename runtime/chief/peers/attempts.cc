#include "runtime/chief/peers/attempts.h"

#include <string>

#include "runtime/cluster/limits.h"

namespace pstrain {

Status Attempts::Check(std::uint32_t index, std::uint32_t attempt, ProtocolTime now) const {
  const auto seconds = [](ProtocolTime time) {
    return static_cast<std::uint64_t>(std::chrono::floor<std::chrono::seconds>(time).count());
  };
  const auto last = last_.find(index);
  const std::uint64_t most =
      last == last_.end()
          ? kAttemptsBeforeTheFirst + seconds(now - started_ + run_age_)
          : last->second.attempt + kAttemptsAhead + seconds(now - last->second.since);
  if (attempt <= most) return OkStatus();
  return UnavailableError(std::string(RoleName(role_)) + " " + std::to_string(index) +
                          " cannot be at attempt " + std::to_string(attempt) + " yet, at most at " +
                          std::to_string(most) + "; if it is, it is admitted later");
}

void Attempts::Take(std::uint32_t index, std::uint32_t attempt, ProtocolTime now) {
  const auto [last, first] = last_.try_emplace(index, Last{attempt, now});
  if (!first && attempt > last->second.attempt) last->second = {attempt, now};
}

}  // namespace pstrain
