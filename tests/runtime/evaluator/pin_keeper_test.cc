#include "runtime/evaluator/pin_keeper.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;

TEST(PinKeeper, WhileItLives_TellsAgainAndAgain) {
  Mutex mutex;
  CondVar changed;
  int told = 0;
  const auto tell = [&] {
    const MutexLock lock(mutex);
    ++told;
    changed.NotifyAll();
  };
  {
    const PinKeeper keeper(tell, milliseconds(1));
    const SteadyTime deadline = SteadyNow() + std::chrono::seconds(60);
    const MutexLock lock(mutex);
    while (told < 3 && changed.WaitUntil(mutex, deadline)) {
    }
  }
  EXPECT_GE(told, 3);
}

TEST(PinKeeper, WhenItEndsBeforeThePause_TellsNothing) {
  bool told = false;
  {
    const PinKeeper keeper([&told] { told = true; }, std::chrono::hours(1));
  }
  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace pstrain
