// A program of several processes whose every call adds a number that it draws to all elements of
// two variables that lie on both ps, for atomic_program_test.cc: when a worker dies between two ps,
// the next attempt of its calls draws others.
//
//   atomic_program CALLS MILLISECONDS
//
// Each call takes so long, and returns what it has drawn. At the end the chief says "right" when
// every element is the sum of that. PSTRAIN_TEST_ATOMIC=0: the function is registered without
// FunctionOptions.atomic.
#include <pstrain/pstrain.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace pstrain;

constexpr std::int64_t kElements = 30;
const VariableRef kLeft{"left"}, kRight{"right"};

int calls = 1;
int milliseconds = 0;

Result<Values> Draw(Step& step) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  const std::int64_t drawn = std::random_device()();
  step.Add(kLeft, Tensor::From(std::vector<std::int64_t>(kElements, drawn)));
  step.Add(kRight, Tensor::From(std::vector<std::int64_t>(kElements, drawn)));
  return Values{{"drawn", drawn}};
}

bool Atomic() {
  const char* const atomic = std::getenv("PSTRAIN_TEST_ATOMIC");
  return atomic == nullptr || std::string_view(atomic) != "0";
}
const Function kDraw{"Draw", Draw, {.atomic = Atomic()}};

Result<Values> ReadBoth(Step& step) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Read(kLeft, kRight));
  return Values{{"left", read[0]}, {"right", read[1]}};
}
const Function kReadBoth{"ReadBoth", ReadBoth};

Status Compare(const Values& read, std::int64_t sum) {
  for (const char* name : {"left", "right"}) {
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor variable, read.Get(name));
    PSTRAIN_ASSIGN_OR_RETURN(const auto elements, variable.data<std::int64_t>());
    const auto other =
        std::ranges::find_if(elements, [sum](std::int64_t element) { return element != sum; });
    if (other == elements.end()) continue;
    return InternalError("torn: " + std::string(name) + " has " + std::to_string(*other) +
                         ", and what the calls have drawn is " + std::to_string(sum));
  }
  return OkStatus();
}

Result<int> Coordinate(const ClusterResolver& cluster) {
  PSTRAIN_ASSIGN_OR_RETURN(
      const auto strategy,
      ParameterServerStrategy::Create(
          cluster, {.ps = 2,
                    .workers = 2,
                    .variable_partitioner = partitioners::FixedShardsPartitioner(3)}));
  PSTRAIN_ASSIGN_OR_RETURN(auto coordinator, ClusterCoordinator::Create(strategy));
  {
    const auto scope = strategy.Scope();
    for (const VariableRef& variable : {kLeft, kRight}) {
      PSTRAIN_RETURN_IF_ERROR(Variable::Create(variable, Shape{kElements}, initializers::Zeros(),
                                               optimizers::None{}, DType::kInt64)
                                  .status());
    }
  }
  std::vector<RemoteValue> values;
  for (int i = 0; i < calls; ++i) {
    PSTRAIN_ASSIGN_OR_RETURN(RemoteValue value, coordinator.Schedule(kDraw));
    values.push_back(std::move(value));
  }
  std::int64_t sum = 0;
  for (const RemoteValue& value : values) {
    PSTRAIN_ASSIGN_OR_RETURN(const Values drawn, value.Fetch(Forever()));
    PSTRAIN_ASSIGN_OR_RETURN(const auto number, drawn.scalar<std::int64_t>("drawn"));
    sum += number;
  }
  PSTRAIN_RETURN_IF_ERROR(coordinator.Join(Forever()));
  PSTRAIN_ASSIGN_OR_RETURN(const RemoteValue reading, coordinator.Schedule(kReadBoth));
  PSTRAIN_ASSIGN_OR_RETURN(const Values read, reading.Fetch(Forever()));
  PSTRAIN_RETURN_IF_ERROR(Compare(read, sum));
  PSTRAIN_ASSIGN_OR_RETURN(const int code, coordinator.Finish());
  std::printf("right\n");
  return code;
}

Result<int> Run(const ClusterResolver& cluster) {
  if (cluster.task_type().value_or("chief") == "chief") return Coordinate(cluster);
  return Server(cluster).Join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  calls = std::atoi(argv[1]);
  milliseconds = std::atoi(argv[2]);
  return Program(Run);
}
