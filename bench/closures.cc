// closures CALLS: how many empty functions without a result a coordinator has run per second, as
// bench/closures.py measures it of TensorFlow too. All roles, as by a job with spec.program; the
// chief prints a line of JSON.
#include <pstrain/pstrain.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace pstrain;

/// Before the clock runs: connections are made, and threads are warm.
constexpr long kWarmUp = 2000;

long calls = 0;

Result<Values> Nothing(Step& /*step*/) { return Values(); }
const Function kNothing{"Nothing", Nothing};

Status Run(ClusterCoordinator& coordinator, long count) {
  for (long i = 0; i < count; ++i) {
    PSTRAIN_RETURN_IF_ERROR(coordinator.Schedule(kNothing).status());
  }
  return coordinator.Join(Forever());
}

Result<int> Coordinate(const ClusterResolver& cluster) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto strategy, ParameterServerStrategy::Create(cluster));
  PSTRAIN_ASSIGN_OR_RETURN(auto coordinator, ClusterCoordinator::Create(strategy));
  PSTRAIN_RETURN_IF_ERROR(Run(coordinator, kWarmUp));
  const auto begin = std::chrono::steady_clock::now();
  PSTRAIN_RETURN_IF_ERROR(Run(coordinator, calls));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("{\"closures\": %ld, \"seconds\": %.6f}\n", calls, took.count());
  return coordinator.Finish();
}

Result<int> Role(const ClusterResolver& cluster) {
  if (cluster.task_type().value_or("chief") == "chief") return Coordinate(cluster);
  return Server(cluster).Join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) calls = std::strtol(argv[1], nullptr, 10);
  if (calls < 1) {
    std::fputs("usage: closures CALLS\n", stderr);
    return 2;
  }
  return Program(Role);
}
