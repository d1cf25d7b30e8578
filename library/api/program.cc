#include <pstrain/program.h>

#include <cstdlib>
#include <iostream>

#include "library/call_guarded.h"
#include "library/remote/end_of_main.h"
#include "library/remote/remote_chief.h"
#include "proto/contract/exit_codes.h"
#include "runtime/cluster/process/stop_on_signal.h"

namespace pstrain {
namespace {

int Run(const std::function<Result<int>()>& main) {
  if (std::getenv("TF_CONFIG") != nullptr) BlockStopSignals();
  const Result<int> outcome = program::CallGuarded("the program", main);
  const ExitOfMain exit = DecideExit(outcome, RemoteChief::EndAtEndOfMain());
  if (!exit.says.empty()) std::cerr << "error: " << exit.says << '\n';
  return exit.code;
}

}  // namespace

int Program(const std::function<Result<int>()>& coordinate) { return Run(coordinate); }

int Program(const std::function<Result<int>(const ClusterResolver& cluster)>& role) {
  const Result<ClusterResolver> cluster = ClusterResolver::FromEnvironment();
  if (!cluster.ok()) {
    std::cerr << "error: " << cluster.status().ToString() << '\n';
    return kExitUsage;
  }
  return Run([&] { return role(*cluster); });
}

}  // namespace pstrain
