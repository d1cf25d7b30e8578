// Stands between Backoff::Next and whoever calls it: the linker gives the callers this one instead
// (--wrap), and this one the product's own.
#include <algorithm>
#include <chrono>

#include "base/backoff.h"
#include "tests/runtime/simulation/mutations.h"

namespace pstrain::simulation {
namespace {

/// Where pauses before the next look at a disk begin.
constexpr std::chrono::milliseconds kFirstPause{100};

}  // namespace

std::chrono::nanoseconds RealNext(Backoff* pauses) __asm__("__real__ZN7pstrain7Backoff4NextEv");
std::chrono::nanoseconds MutatedNext(Backoff* pauses) __asm__("__wrap__ZN7pstrain7Backoff4NextEv");

std::chrono::nanoseconds MutatedNext(Backoff* pauses) {
  const std::chrono::nanoseconds next = RealNext(pauses);
  if (!ActiveMutations().pauses_do_not_grow) return next;
  return std::min<std::chrono::nanoseconds>(next, kFirstPause);
}

}  // namespace pstrain::simulation
