#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#if defined(__clang__)
#define PSTRAIN_THREAD_ATTRIBUTE_(x) __attribute__((x))
#else
#define PSTRAIN_THREAD_ATTRIBUTE_(x)
#endif

#define PSTRAIN_CAPABILITY(name) PSTRAIN_THREAD_ATTRIBUTE_(capability(name))
#define PSTRAIN_SCOPED_CAPABILITY PSTRAIN_THREAD_ATTRIBUTE_(scoped_lockable)
/// The member may be touched only while the named mutex is held.
#define PSTRAIN_GUARDED_BY(mutex) PSTRAIN_THREAD_ATTRIBUTE_(guarded_by(mutex))
#define PSTRAIN_PT_GUARDED_BY(mutex) PSTRAIN_THREAD_ATTRIBUTE_(pt_guarded_by(mutex))
/// The function may be called only while the mutex is held.
#define PSTRAIN_REQUIRES(...) PSTRAIN_THREAD_ATTRIBUTE_(requires_capability(__VA_ARGS__))
/// The function may be called only while the mutex is not held.
#define PSTRAIN_EXCLUDES(...) PSTRAIN_THREAD_ATTRIBUTE_(locks_excluded(__VA_ARGS__))
#define PSTRAIN_ACQUIRE(...) PSTRAIN_THREAD_ATTRIBUTE_(acquire_capability(__VA_ARGS__))
#define PSTRAIN_RELEASE(...) PSTRAIN_THREAD_ATTRIBUTE_(release_capability(__VA_ARGS__))
#define PSTRAIN_TRY_ACQUIRE(...) PSTRAIN_THREAD_ATTRIBUTE_(try_acquire_capability(__VA_ARGS__))
#define PSTRAIN_NO_THREAD_SAFETY_ANALYSIS PSTRAIN_THREAD_ATTRIBUTE_(no_thread_safety_analysis)

namespace pstrain {

class CondVar;

/// std::mutex with the annotations that clang's -Wthread-safety checks. Any thread; not recursive.
class PSTRAIN_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() PSTRAIN_ACQUIRE() { mutex_.lock(); }
  void Unlock() PSTRAIN_RELEASE() { mutex_.unlock(); }
  bool TryLock() PSTRAIN_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

/// Holds a mutex for the life of a scope.
class PSTRAIN_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) PSTRAIN_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() PSTRAIN_RELEASE() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// A condition variable over Mutex. The waits may wake for no reason: call them in a loop that
/// tests the condition (the analysis then sees the guarded reads under the lock).
class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  void Wait(Mutex& mutex) PSTRAIN_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }

  /// False when the deadline has passed; the condition may hold all the same.
  bool WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point deadline)
      PSTRAIN_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool woken = AwaitUntil(lock, deadline);
    lock.release();
    return woken;
  }

  /// As WaitUntil, from now on the steady clock.
  bool WaitFor(Mutex& mutex, std::chrono::nanoseconds duration) PSTRAIN_REQUIRES(mutex) {
    return WaitUntil(mutex, std::chrono::steady_clock::now() + duration);
  }

  /// As Wait, but a request to stop wakes the caller too: test stop.stop_requested() in the loop. A
  /// stop that was requested before returns immediately. Nobody may request the stop while holding
  /// the mutex: the request waits for it, so as not to fall between the caller's test and its wait.
  void Wait(Mutex& mutex, const std::stop_token& stop) PSTRAIN_REQUIRES(mutex) {
    WaitUntil(mutex, std::chrono::steady_clock::time_point::max(), stop);
  }

  /// As WaitUntil, and as Wait with a stop.
  bool WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point deadline,
                 const std::stop_token& stop) PSTRAIN_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    bool woken = true;
    {
      const std::stop_callback wake(stop, [this, &mutex, waiter = std::this_thread::get_id()] {
        // From the constructor, which finds the stop requested already: nobody waits yet.
        if (std::this_thread::get_id() == waiter) return;
        // Not between the test of the stop and the wait, where the wake-up would be lost.
        {
          const std::lock_guard<std::mutex> waiting(mutex.mutex_);
        }
        condition_.notify_all();
      });
      if (!stop.stop_requested()) woken = AwaitUntil(lock, deadline);
      lock.unlock();
    }  // The callback may be waiting for the mutex; it ends here, while nobody holds it.
    lock.lock();
    lock.release();
    return woken;
  }

  /// As WaitUntil with a stop, from now on the steady clock.
  bool WaitFor(Mutex& mutex, std::chrono::nanoseconds duration, const std::stop_token& stop)
      PSTRAIN_REQUIRES(mutex) {
    return WaitUntil(mutex, std::chrono::steady_clock::now() + duration, stop);
  }

  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  bool AwaitUntil(std::unique_lock<std::mutex>& lock,
                  std::chrono::steady_clock::time_point deadline) {
    // wait_until overflows for the end of time.
    if (deadline == std::chrono::steady_clock::time_point::max()) {
      condition_.wait(lock);
      return true;
    }
    return condition_.wait_until(lock, deadline) == std::cv_status::no_timeout;
  }

  std::condition_variable condition_;
};

/// Waits for `duration`. True after it, false as soon as a stop is requested. Any thread.
inline bool PauseFor(std::chrono::nanoseconds duration, const std::stop_token& stop) {
  Mutex mutex;  // guards nothing: the wait needs one
  CondVar never;
  const auto deadline = std::chrono::steady_clock::now() + duration;
  const MutexLock lock(mutex);
  while (!stop.stop_requested() && never.WaitUntil(mutex, deadline, stop)) {
  }
  return !stop.stop_requested();
}

}  // namespace pstrain
