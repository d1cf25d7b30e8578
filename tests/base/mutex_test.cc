#include "base/mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace pstrain {
namespace {

struct Counter {
  Mutex mutex;
  CondVar changed;
  int value PSTRAIN_GUARDED_BY(mutex) = 0;
};

TEST(Mutex, MutexLock_FromManyThreads_LosesNoIncrement) {
  Counter counter;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&counter] {
      for (int i = 0; i < 10'000; ++i) {
        MutexLock lock(counter.mutex);
        ++counter.value;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  MutexLock lock(counter.mutex);
  EXPECT_EQ(counter.value, 40'000);
}

TEST(CondVar, Wait_UntilNotified_SeesTheChange) {
  Counter counter;
  std::thread setter([&counter] {
    MutexLock lock(counter.mutex);
    counter.value = 1;
    counter.changed.NotifyAll();
  });
  {
    MutexLock lock(counter.mutex);
    while (counter.value == 0) counter.changed.Wait(counter.mutex);
    EXPECT_EQ(counter.value, 1);
  }
  setter.join();
}

TEST(CondVar, WaitFor_WhenNobodyNotifies_TimesOut) {
  Counter counter;
  MutexLock lock(counter.mutex);
  const SteadyTime deadline = SteadyNow() + std::chrono::milliseconds(5);
  while (counter.changed.WaitUntil(counter.mutex, deadline)) {
  }
  EXPECT_GE(SteadyNow(), deadline);
}

TEST(CondVar, WaitWithStop_WhenStoppedBefore_ReturnsImmediately) {
  Counter counter;
  std::stop_source stop;
  stop.request_stop();
  MutexLock lock(counter.mutex);
  counter.changed.Wait(counter.mutex, stop.get_token());  // hangs unless the stop ends it
  EXPECT_TRUE(counter.changed.WaitFor(counter.mutex, std::chrono::hours(1), stop.get_token()));
}

// The stop comes a little later in each round: while the waiter tests, is about to wait, or waits.
// In no round may it be lost.
TEST(CondVar, WaitWithStop_WhenStoppedMeanwhile_Returns) {
  for (int round = 0; round < 3'000; ++round) {
    Counter counter;
    std::stop_source stop;
    std::atomic<bool> about_to_wait{false};
    std::thread waiter([&, token = stop.get_token()] {
      MutexLock lock(counter.mutex);
      about_to_wait = true;
      while (!token.stop_requested()) counter.changed.Wait(counter.mutex, token);
      ++counter.value;  // the mutex is held again
    });
    // Spinning, not yielding: on two cores both threads are then at the wait at the same moment.
    for (int spins = 0; !about_to_wait; ++spins) {
      if (spins % 10'000 == 9'999) std::this_thread::yield();
    }
    for (std::atomic<int> delay{round % 500}; delay > 0; --delay) {
    }
    stop.request_stop();
    waiter.join();
    MutexLock lock(counter.mutex);
    EXPECT_EQ(counter.value, 1);
  }
}

// A notification ends the wait without a stop, and one that races with a stop confuses neither.
TEST(CondVar, WaitWithStop_WhenNotifiedWhileStopping_Returns) {
  for (int round = 0; round < 500; ++round) {
    Counter counter;
    std::stop_source stop;
    const bool stops = round % 2 == 0;
    std::thread waiter([&counter, token = stop.get_token()] {
      MutexLock lock(counter.mutex);
      while (counter.value == 0 && !token.stop_requested()) {
        counter.changed.Wait(counter.mutex, token);
      }
    });
    std::thread notifier([&counter] {
      MutexLock lock(counter.mutex);
      counter.value = 1;
      counter.changed.NotifyOne();
    });
    if (stops) stop.request_stop();
    waiter.join();
    notifier.join();
    EXPECT_EQ(stop.stop_requested(), stops);
  }
}

TEST(CondVar, WaitUntilWithStop_WhenNothingHappens_TimesOut) {
  Counter counter;
  const std::stop_source stop;
  MutexLock lock(counter.mutex);
  const SteadyTime deadline = SteadyNow() + std::chrono::milliseconds(5);
  while (counter.changed.WaitUntil(counter.mutex, deadline, stop.get_token())) {
  }
  EXPECT_GE(SteadyNow(), deadline);
}

// Several wait with one token: a stop wakes all of them.
TEST(CondVar, WaitWithStop_OfManyThreads_WakesAll) {
  Counter counter;
  std::stop_source stop;
  std::vector<std::thread> waiters;
  for (int t = 0; t < 8; ++t) {
    waiters.emplace_back([&counter, token = stop.get_token()] {
      MutexLock lock(counter.mutex);
      while (!token.stop_requested()) counter.changed.Wait(counter.mutex, token);
    });
  }
  stop.request_stop();
  for (std::thread& waiter : waiters) waiter.join();
}

TEST(PauseFor, UntilStopped_SaysWhichCameFirst) {
  std::stop_source stop;
  EXPECT_TRUE(PauseFor(std::chrono::milliseconds(1), stop.get_token()));
  std::thread stopper([&stop] { stop.request_stop(); });
  EXPECT_FALSE(PauseFor(std::chrono::hours(1), stop.get_token()));
  stopper.join();
  EXPECT_FALSE(PauseFor(std::chrono::nanoseconds(0), stop.get_token()));
}

TEST(Mutex, TryLock_WhenHeldElsewhere_Fails) {
  Mutex mutex;
  MutexLock lock(mutex);
  bool taken = true;
  std::thread other([&mutex, &taken] {
    if (mutex.TryLock()) {
      mutex.Unlock();
    } else {
      taken = false;
    }
  });
  other.join();
  EXPECT_FALSE(taken);
}

}  // namespace
}  // namespace pstrain
