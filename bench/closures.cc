// closures CALLS [STARTS]: how many empty functions without a result a coordinator has run per
// second, as bench/closures.py measures it of TensorFlow too. All roles, as by a job with
// spec.program; the chief prints a line of JSON. Each process of a worker appends a line to the
// file STARTS with its first call: its process id, and the time in seconds since 1970.
#include <pstrain/pstrain.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace {

using namespace pstrain;

/// Before the clock runs: connections are made, and threads are warm.
constexpr long kWarmUp = 2000;

long calls = 0;
const char* starts = nullptr;

void NoteStart() {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  std::ofstream(starts, std::ios::app) << getpid() << ' ' << std::to_string(now.count()) << '\n';
}
Result<Values> Nothing(Step& /*step*/) {
  static std::atomic_flag noted;
  if (starts != nullptr && !noted.test_and_set()) NoteStart();
  return Values();
}
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
  if (argc == 2 || argc == 3) calls = std::strtol(argv[1], nullptr, 10);
  if (argc == 3) starts = argv[2];
  if (calls < 1) {
    std::fputs("usage: closures CALLS [STARTS]\n", stderr);
    return 2;
  }
  return Program(Role);
}
