// A program of several processes whose function hangs now and then, for hanging_program_test.cc.
//
//   hanging_program CALLS HANG STOP DIRECTORY
//
// The first HANG attempts that begin, on whichever worker, never return; the next STOP ones stop
// their process for 12 s, longer than the chief takes a silent worker for alive. Files in the
// directory say which those are. At the end the chief says "right" when the sum is that of all
// calls.
#include <fcntl.h>
#include <pstrain/pstrain.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

using namespace pstrain;

const VariableRef kSum{"sum"};

int calls = 1;
int hang = 0;
int stop = 0;
std::string directory;

/// One of `count` things that happen once; false: all have.
bool Claim(const char* what, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string file = directory + "/" + what + std::to_string(i);
    const int made = open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (made < 0) continue;
    close(made);
    return true;
  }
  return false;
}

void StopThisProcess() {
  const pid_t own = getpid();
  if (fork() == 0) {
    sleep(12);
    kill(own, SIGCONT);
    _exit(0);
  }
  kill(own, SIGSTOP);
}

Result<Values> Add(Step& step, std::int64_t amount) {
  while (Claim("hangs", hang)) {
    while (true) pause();
  }
  if (Claim("stops", stop)) StopThisProcess();
  step.Add(kSum, amount);
  return Values{{"amount", amount}};
}
const Function kAdd{"Add", Add, {.deadline = std::chrono::milliseconds(700)}};

Result<Values> ReadSum(Step& step) {
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor sum, step.Read(kSum));
  return Values{{"sum", sum}};
}
const Function kReadSum{"ReadSum", ReadSum};

Result<int> Coordinate(const ClusterResolver& cluster) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto strategy, ParameterServerStrategy::Create(cluster));
  PSTRAIN_ASSIGN_OR_RETURN(auto coordinator, ClusterCoordinator::Create(strategy));
  {
    const auto scope = strategy.Scope();
    PSTRAIN_RETURN_IF_ERROR(
        Variable::Create(kSum, Shape{}, initializers::Zeros(), optimizers::None{}, DType::kInt64)
            .status());
  }
  for (int i = 0; i < calls; ++i) {
    PSTRAIN_RETURN_IF_ERROR(coordinator.Schedule(kAdd, std::int64_t{i}).status());
  }
  PSTRAIN_RETURN_IF_ERROR(coordinator.Join(Forever()));
  PSTRAIN_ASSIGN_OR_RETURN(const RemoteValue reading, coordinator.Schedule(kReadSum));
  PSTRAIN_ASSIGN_OR_RETURN(const Values read, reading.Fetch(Forever()));
  PSTRAIN_ASSIGN_OR_RETURN(const auto sum, read.scalar<std::int64_t>("sum"));
  PSTRAIN_ASSIGN_OR_RETURN(const int code, coordinator.Finish());
  const std::int64_t all = std::int64_t{calls} * (calls - 1) / 2;
  if (sum == all) std::printf("right\n");
  if (sum != all) {
    std::printf("the sum is %lld and not %lld\n", static_cast<long long>(sum),
                static_cast<long long>(all));
  }
  return code;
}

Result<int> Run(const ClusterResolver& cluster) {
  if (cluster.task_type().value_or("chief") == "chief") return Coordinate(cluster);
  return Server(cluster).Join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  calls = std::atoi(argv[1]);
  hang = std::atoi(argv[2]);
  stop = std::atoi(argv[3]);
  directory = argv[4];
  return Program(Run);
}
