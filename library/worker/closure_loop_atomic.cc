// Calls of atomic functions (docs/design/atomic-functions.md).
#include <array>
#include <cstddef>
#include <utility>

#include "library/worker/closure_loop.h"
#include "library/worker/prepared_outcome.h"
#include "runtime/cluster/limits.h"

namespace pstrain {

// What is far too large is not encoded.
Result<std::string> ClosureLoop::PreparedOf(const ClosureOutcome& outcome) {
  std::size_t bytes = BytesOf(outcome.updates) + outcome.result.size();
  if (bytes <= kMostPreparedBytes) {
    std::string prepared = EncodePrepared(outcome);
    if (prepared.size() <= kMostPreparedBytes) return prepared;
    bytes = prepared.size();
  }
  return ResourceExhaustedError(
      (outcome.function.empty() ? "the function" : outcome.function) + " changes and returns " +
      std::to_string(bytes) + " bytes, and an atomic function at most " +
      std::to_string(kMostPreparedBytes) +
      "; change less in one call, or register it without FunctionOptions.atomic");
}

// Rules 2 and 6. Invariant: of a call of an atomic function nothing is on any shard but what the
// chief keeps of it, until it is committed.
void ClosureLoop::Decided(ClosurePushes::Closure call, const std::optional<std::string>& instead) {
  if (!instead) return pushes().Add(std::move(call));
  if (instead->empty()) {
    session_.GiveBack(call.grant);
    return order_.End(std::array{call.place});
  }
  const std::optional<Result<Ending>> ended = PushPrepared(call.grant, *instead, call.place);
  if (ended) Abandon(ended->status());
}

// The bytes are another worker's. What cannot be read or pushed nobody can finish: some shards may
// have it.
std::optional<Result<ClosureLoop::Ending>> ClosureLoop::PushPrepared(const Grant& grant,
                                                                     const std::string& prepared,
                                                                     std::uint64_t place) {
  Result<ClosureOutcome> outcome = DecodePrepared(prepared);
  Result<RoutedPlan> plan = outcome.ok() ? PlanOf(*outcome) : outcome.status();
  if (!plan.ok()) {
    Status failed = plan.status().WithContext(calls_.NameOf(grant));
    session_.Fail(failed.message());
    return failed;
  }
  pushes().Add({grant, *std::move(outcome), *std::move(plan), place});
  return std::nullopt;
}

}  // namespace pstrain
