// Stands between Backoff::Next and whoever calls it (mutated_functions.txt).
#include <algorithm>
#include <chrono>

#include "base/backoff.h"
#include "tests/runtime/simulation/mutated_functions.h"
#include "tests/runtime/simulation/mutations.h"

namespace pstrain::simulation {
namespace {

/// Where pauses before the next look at a disk begin.
constexpr std::chrono::milliseconds kFirstPause{100};

}  // namespace

std::chrono::nanoseconds RealNext(Backoff* pauses) REAL_BackoffNext;
std::chrono::nanoseconds MutatedNext(Backoff* pauses) MUTATED_BackoffNext;

std::chrono::nanoseconds MutatedNext(Backoff* pauses) {
  const std::chrono::nanoseconds next = RealNext(pauses);
  if (!ActiveMutations().pauses_do_not_grow) return next;
  return std::min<std::chrono::nanoseconds>(next, kFirstPause);
}

}  // namespace pstrain::simulation
