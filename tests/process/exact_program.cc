// A program whose float weights depend on the order and on the values that each of its calls reads,
// for program_exact_weights_test.cc: with one worker, one call at a time, atomic functions and
// onPsLost RestartFromMark they are the same, bit for bit, whatever is killed.
//
//   exact_program
//
// 60 calls, a Join behind each 6th, a mark behind each 12th. It waits at the gates "rest K" of
// `main` behind the Join of call K, "in K" of call K when it has read, and "behind K" of `main`
// when it has scheduled call K. It prints the beginning and the last loss.
#include <pstrain/pstrain.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/process/gate_of_test.h"

namespace {

using namespace pstrain;

constexpr std::int64_t kCalls = 60;
constexpr std::int64_t kBetweenJoins = 6;
constexpr std::int64_t kBetweenMarks = 12;
constexpr std::int64_t kInputs = 24;
constexpr std::int64_t kRowsOfTable = 50;

const VariableRef kWeights{"weights"}, kBias{"bias"}, kTable{"table"};

std::string Directory() {
  const char* value = std::getenv("PSTRAIN_TEST_DIRECTORY");
  return value == nullptr ? std::string() : value;
}

/// The same in each run.
float Input(std::int64_t number, std::int64_t i) {
  return std::sin(static_cast<float>(number * 31 + i * 17));
}

/// A step of logistic regression.
Result<Values> Train(Step& step, std::int64_t number) {
  const Tensor ids =
      Tensor::From(std::vector<std::int64_t>{number % kRowsOfTable, (number * 7) % kRowsOfTable});
  PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Read(kWeights, kBias));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor rows, step.Lookup(kTable, ids));
  PSTRAIN_ASSIGN_OR_RETURN(const auto weights, read[0].data<float>());
  PSTRAIN_ASSIGN_OR_RETURN(const float bias, read[1].scalar<float>());
  PSTRAIN_ASSIGN_OR_RETURN(const auto row, rows.data<float>());
  float logit = bias;
  for (const float value : row) logit += value;
  for (std::int64_t i = 0; i < kInputs; ++i) {
    logit += weights[static_cast<std::size_t>(i)] * Input(number, i);
  }
  const float error = 1 / (1 + std::exp(-logit)) - static_cast<float>(number % 2);
  WaitAtGate(Directory(), "in " + std::to_string(number), "call");
  std::vector<float> gradient;
  for (std::int64_t i = 0; i < kInputs; ++i) gradient.push_back(error * Input(number, i));
  step.Gradient(kWeights, Tensor::From(std::move(gradient)));
  step.Gradient(kBias, Tensor(error));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor of_rows,
                           Tensor::From(Shape{2, 2}, std::vector<float>(4, error)));
  step.Gradient(kTable, {ids, of_rows});
  return Values{{"error", error}};
}
const Function kTrain{"Train", Train, FunctionOptions{.atomic = true}};

Result<int> Coordinate(const ClusterResolver& cluster) {
  PSTRAIN_ASSIGN_OR_RETURN(
      const auto strategy,
      ParameterServerStrategy::Create(
          cluster, {.variable_partitioner = partitioners::FixedShardsPartitioner(4)}));
  PSTRAIN_ASSIGN_OR_RETURN(auto coordinator, ClusterCoordinator::Create(strategy));
  const auto scope = strategy.Scope();
  PSTRAIN_RETURN_IF_ERROR(Variable::Create(kWeights, Shape{kInputs},
                                           initializers::TruncatedNormal(0.5, 3),
                                           optimizers::Adam{.learning_rate = 0.05})
                              .status());
  PSTRAIN_RETURN_IF_ERROR(Variable::Create(kBias, Shape{}, initializers::Zeros(),
                                           optimizers::Adagrad{.learning_rate = 0.1})
                              .status());
  PSTRAIN_RETURN_IF_ERROR(EmbeddingTable::Create(kTable, Shape{kRowsOfTable, 2},
                                                 initializers::RandomUniform(0.3, 5),
                                                 optimizers::Adagrad{.learning_rate = 0.1})
                              .status());
  PSTRAIN_ASSIGN_OR_RETURN(auto manager, CheckpointManager::Create(coordinator));
  PSTRAIN_ASSIGN_OR_RETURN(const std::int64_t mark, manager.RestoreOrInitialize());
  std::printf("begins at %lld\n", static_cast<long long>(mark));
  std::fflush(stdout);
  for (std::int64_t number = mark + 1; number <= kCalls; ++number) {
    PSTRAIN_RETURN_IF_ERROR(coordinator.Schedule(kTrain, number).status());
    WaitAtGate(Directory(), "behind " + std::to_string(number), "main");
    if (number % kBetweenJoins != 0) continue;
    PSTRAIN_RETURN_IF_ERROR(coordinator.Join(Forever()));
    WaitAtGate(Directory(), "rest " + std::to_string(number), "main");
    if (number % kBetweenMarks != 0) continue;
    PSTRAIN_RETURN_IF_ERROR(manager.Save({.mark = number}));
  }
  return coordinator.Finish();
}

}  // namespace

int main() {
  return Program([](const ClusterResolver& cluster) -> Result<int> {
    if (cluster.task_type().value_or("chief") == "chief") return Coordinate(cluster);
    return Server(cluster).Join();
  });
}
