#include "runtime/cluster/process/stop_on_signal.h"

#include <pthread.h>

#include <csignal>
#include <ctime>

namespace pstrain {
namespace {

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

void BlockStopSignals() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void StopOnSignal::Run(const std::stop_token& end) {
  const sigset_t signals = StopSignals();
  const timespec interval{.tv_sec = 0, .tv_nsec = 100'000'000};
  while (!end.stop_requested()) {
    if (sigtimedwait(&signals, nullptr, &interval) > 0) source_.request_stop();
  }
}

}  // namespace pstrain
