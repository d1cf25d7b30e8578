#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <stop_token>
#include <thread>

#include "base/log.h"
#include "operator/kube/http/cpprest_transport.h"
#include "operator/operator_process.h"
#include "operator/options.h"
#include "proto/contract/exit_codes.h"

namespace {

/// SIGTERM and SIGINT end the operator by a stop token instead of a handler.
sigset_t BlockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  // To end the thread that waits for the two.
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

int Run(const pstrain::OperatorOptions& options, const sigset_t& signals) {
  pstrain::SetLogLevel(options.log_level);
  const auto connection = pstrain::FindApiServer(options);
  if (!connection.ok()) {
    pstrain::LogError("operator", "cannot start", {{"error", connection.status()}});
    return pstrain::kExitFailure;
  }
  std::stop_source stop;
  std::jthread waiter([&signals, &stop] {
    int signal = 0;
    sigwait(&signals, &signal);
    if (signal != SIGUSR1) pstrain::LogInfo("operator", "stopping", {{"signal", signal}});
    stop.request_stop();
  });
  const pstrain::Status ended = pstrain::RunOperator(options, *connection, stop.get_token());
  pthread_kill(waiter.native_handle(), SIGUSR1);
  waiter.join();
  if (ended.ok()) {
    pstrain::LogInfo("operator", "stopped");
    return pstrain::kExitSuccess;
  }
  pstrain::LogError("operator", "ended", {{"error", ended}});
  return pstrain::kExitFailure;
}

}  // namespace

int main(int argc, char** argv) {
  // Before any thread starts: the signals must find no thread that would take them.
  const sigset_t signals = BlockStopSignals();
  pstrain::kube::PrepareCpprest();
  const auto options = pstrain::ParseOperatorOptions({argv + 1, argv + argc});
  if (!options.ok()) {
    std::cerr << "pstrain-operator: " << options.status().message() << "\n"
              << "pstrain-operator --help lists the options\n";
    return pstrain::kExitUsage;
  }
  if (options->help) {
    std::cout << pstrain::OperatorUsage();
    return pstrain::kExitSuccess;
  }
  if (options->version) {
    std::cout << "pstrain-operator " << PSTRAIN_VERSION << "\n";
    return pstrain::kExitSuccess;
  }
  return Run(*options, signals);
}
