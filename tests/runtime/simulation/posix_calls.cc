// The threads, mutexes, condition variables, futexes, clocks and fsync of the C library, for
// whoever is a fiber of a Scheduler; everybody else gets the real ones. The program's definitions
// take the place of the library's, also for libstdc++, so std::jthread, std::future,
// std::stop_token and base/mutex.h work on fibers without knowing it. Only one fiber runs at a time
// and it is switched only here: what is free stays free until the next call.
//
// Sources: pthreads(7), futex(2); the fields of pthread_mutex_t are glibc's.
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <ctime>
#include <random>

#include "tests/runtime/simulation/scheduler.h"
#include "tests/runtime/simulation/simulated_clock.h"

namespace pstrain::simulation {
namespace {

/// What the clocks show at the beginning of a simulation, in seconds.
constexpr std::int64_t kSteadyBegin = 1'000'000;

/// The library's own function.
template <typename Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// The wall clock when this process began: files that a simulation writes have real times.
std::int64_t WallBegin() {
  static const std::int64_t begin = [] {
    timespec now{};
    Real<int(clockid_t, timespec*)>("clock_gettime")(CLOCK_REALTIME, &now);
    return std::int64_t{now.tv_sec};
  }();
  return begin;
}

/// libstdc++ does not wake other threads where glibc says that there are none, and it never started
/// one here.
const bool several_threads = [] {
  __libc_single_threaded = 0;
  return true;
}();

Time ToTime(const timespec& spec, std::int64_t begin) {
  return std::chrono::seconds(spec.tv_sec - begin) + Time(spec.tv_nsec);
}

std::int64_t BeginOf(clockid_t clock) {
  return clock == CLOCK_REALTIME ? WallBegin() : kSteadyBegin;
}

void Lock(Scheduler& scheduler, pthread_mutex_t& mutex) {
  auto& data = mutex.__data;
  const int self = static_cast<int>(scheduler.self());
  scheduler.ReadClock();
  if (data.__kind == PTHREAD_MUTEX_RECURSIVE_NP && data.__lock != 0 && data.__owner == self) {
    ++data.__count;
    return;
  }
  while (data.__lock != 0) scheduler.Wait(&mutex, kNever);
  data.__lock = 1;
  data.__owner = self;
}

void Unlock(Scheduler& scheduler, pthread_mutex_t& mutex) {
  auto& data = mutex.__data;
  if (data.__kind == PTHREAD_MUTEX_RECURSIVE_NP && data.__count > 0) {
    --data.__count;
    return;
  }
  data.__lock = 0;
  data.__owner = 0;
  scheduler.Wake(&mutex, 1);
}

int WaitOn(Scheduler& scheduler, pthread_cond_t& condition, pthread_mutex_t& mutex, Time until) {
  Unlock(scheduler, mutex);
  const bool woken = scheduler.Wait(&condition, until);
  Lock(scheduler, mutex);
  return woken ? 0 : ETIMEDOUT;
}

long Futex(Scheduler& scheduler, const int* word, int operation, int value,
           const timespec* timeout) {
  const int command = operation & FUTEX_CMD_MASK;
  if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) {
    scheduler.Wake(word, value == INT_MAX ? SIZE_MAX : static_cast<std::size_t>(value));
    return 0;
  }
  if (*static_cast<const volatile int*>(word) != value) {
    errno = EAGAIN;
    return -1;
  }
  Time until = kNever;
  if (timeout != nullptr) {
    const bool relative = command == FUTEX_WAIT;
    const bool wall = (operation & FUTEX_CLOCK_REALTIME) != 0;
    until = relative ? scheduler.now() + ToTime(*timeout, 0)
                     : ToTime(*timeout, BeginOf(wall ? CLOCK_REALTIME : CLOCK_MONOTONIC));
  }
  if (scheduler.Wait(word, until)) return 0;
  errno = ETIMEDOUT;
  return -1;
}

}  // namespace

std::int64_t WallSeconds(Time now) {
  return WallBegin() + std::chrono::floor<std::chrono::seconds>(now).count();
}

}  // namespace pstrain::simulation

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
using pstrain::simulation::BeginOf;
using pstrain::simulation::kNever;
using pstrain::simulation::Real;
using pstrain::simulation::Scheduler;
using pstrain::simulation::Time;
using pstrain::simulation::ToTime;

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static const auto real = Real<int(pthread_mutex_t*)>("pthread_mutex_lock");
  Scheduler* scheduler = Scheduler::OfCaller();
  if (scheduler == nullptr) return real(mutex);
  pstrain::simulation::Lock(*scheduler, *mutex);
  return 0;
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  static const auto real = Real<int(pthread_mutex_t*)>("pthread_mutex_trylock");
  Scheduler* scheduler = Scheduler::OfCaller();
  if (scheduler == nullptr) return real(mutex);
  if (mutex->__data.__lock != 0) return EBUSY;
  pstrain::simulation::Lock(*scheduler, *mutex);
  return 0;
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  static const auto real = Real<int(pthread_mutex_t*)>("pthread_mutex_unlock");
  Scheduler* scheduler = Scheduler::OfCaller();
  if (scheduler == nullptr) return real(mutex);
  pstrain::simulation::Unlock(*scheduler, *mutex);
  scheduler->MayYield();
  return 0;
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static const auto real = Real<int(pthread_cond_t*, pthread_mutex_t*)>("pthread_cond_wait");
  Scheduler* scheduler = Scheduler::OfCaller();
  if (scheduler == nullptr) return real(condition, mutex);
  return pstrain::simulation::WaitOn(*scheduler, *condition, *mutex, kNever);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* until) {
  static const auto real =
      Real<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)>("pthread_cond_timedwait");
  Scheduler* scheduler = Scheduler::OfCaller();
  if (scheduler == nullptr) return real(condition, mutex, until);
  return pstrain::simulation::WaitOn(*scheduler, *condition, *mutex,
                                     ToTime(*until, BeginOf(CLOCK_REALTIME)));
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  static const auto real = Real<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>(
      "pthread_cond_clockwait");
  Scheduler* scheduler = Scheduler::OfCaller();
  if (scheduler == nullptr) return real(condition, mutex, clock, until);
  return pstrain::simulation::WaitOn(*scheduler, *condition, *mutex,
                                     ToTime(*until, BeginOf(clock)));
}

int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  static const auto real = Real<int(pthread_cond_t*)>("pthread_cond_signal");
  Scheduler* scheduler = Scheduler::OfCaller();
  if (scheduler == nullptr) return real(condition);
  scheduler->Wake(condition, 1);
  return 0;
}

int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  static const auto real = Real<int(pthread_cond_t*)>("pthread_cond_broadcast");
  Scheduler* scheduler = Scheduler::OfCaller();
  if (scheduler == nullptr) return real(condition);
  scheduler->Wake(condition);
  return 0;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) noexcept {
  static const auto real =
      Real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  Scheduler* scheduler = Scheduler::OfCaller();
  if (scheduler == nullptr) return real(thread, attributes, body, argument);
  *thread = scheduler->Start(scheduler->process(), [body, argument] { body(argument); });
  return 0;
}

int pthread_join(pthread_t thread, void** result) {
  static const auto real = Real<int(pthread_t, void**)>("pthread_join");
  Scheduler* scheduler = Scheduler::OfCaller();
  if (scheduler == nullptr) return real(thread, result);
  scheduler->Join(thread);
  return 0;
}

int pthread_detach(pthread_t thread) noexcept {
  static const auto real = Real<int(pthread_t)>("pthread_detach");
  return Scheduler::OfCaller() == nullptr ? real(thread) : 0;
}

pthread_t pthread_self() noexcept {
  static const auto real = Real<pthread_t()>("pthread_self");
  Scheduler* scheduler = Scheduler::OfCaller();
  return scheduler == nullptr ? real() : scheduler->self();
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto real = Real<int(clockid_t, timespec*)>("clock_gettime");
  Scheduler* scheduler = Scheduler::OfCaller();
  if (scheduler == nullptr) return real(clock, time);
  const Time now = scheduler->ReadClock();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  time->tv_sec = BeginOf(clock) + seconds.count();
  time->tv_nsec = (now - seconds).count();
  return 0;
}

/// What is synced the simulated disk decides.
int fsync(int descriptor) {
  static const auto real = Real<int(int)>("fsync");
  return Scheduler::OfCaller() == nullptr ? real(descriptor) : 0;
}

long syscall(long number, ...) noexcept {
  static const auto real = Real<long(long, ...)>("syscall");
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  Scheduler* scheduler = Scheduler::OfCaller();
  if (number == SYS_futex && scheduler != nullptr) {
    return pstrain::simulation::Futex(
        *scheduler, reinterpret_cast<const int*>(arguments[0]), static_cast<int>(arguments[1]),
        static_cast<int>(arguments[2]), reinterpret_cast<const timespec*>(arguments[3]));
  }
  return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
              arguments[5]);
}

}  // extern "C"
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

/// RandomSeed's entropy: the seed's. Outside of a simulation nobody asks for it.
std::random_device::result_type std::random_device::_M_getval() {
  Scheduler* scheduler = Scheduler::OfCaller();
  return static_cast<result_type>(scheduler == nullptr ? 1 : scheduler->random().Next());
}
