#include "base/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

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
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  while (counter.changed.WaitUntil(counter.mutex, deadline)) {
  }
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
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
