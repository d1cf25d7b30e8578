// Stands between the functions of a worker and what becomes of them (mutated_functions.txt).
#include "library/worker/running_calls.h"
#include "tests/runtime/simulation/mutated_functions.h"
#include "tests/runtime/simulation/mutations.h"

namespace pstrain::simulation {

using Outcome = RunningCalls::Outcome;

Outcome RealReturned(RunningCalls* calls, RunningCalls::Slot slot) REAL_CallReturned;
Outcome MutatedReturned(RunningCalls* calls, RunningCalls::Slot slot) MUTATED_CallReturned;

Outcome MutatedReturned(RunningCalls* calls, RunningCalls::Slot slot) {
  const Outcome outcome = RealReturned(calls, slot);
  const bool counts = outcome == Outcome::kGivenUp && ActiveMutations().missed_attempts_count;
  return counts ? Outcome::kCounts : outcome;
}

}  // namespace pstrain::simulation
