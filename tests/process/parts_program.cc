// A program whose processes may differ, for program_parts_test.cc. PSTRAIN_TEST_PARTS of a process:
// "missing", it lacks the function Second; "signature", Second takes something else; "twice", two
// functions are called Second; "dataset", it lacks the dataset function Numbers; "shape", "dtype":
// `main` declares the variable total otherwise.
#include <pstrain/pstrain.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "tests/process/gate_of_test.h"

namespace {

using namespace pstrain;

const VariableRef kTotal{"total"};

std::string Setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

Result<Values> First(Step& step, std::int64_t amount) {
  step.Add(kTotal, amount);
  return Values();
}
const Function kFirst{"First", First};
Result<Values> Second(Step&, std::int64_t) { return Values(); }
Result<Values> OtherSecond(Step&, float) { return Values(); }
Result<Dataset> Numbers(const InputContext&) { return Dataset::Range(10); }

Result<int> Coordinate(const ClusterResolver& cluster, const std::string& parts) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto strategy, ParameterServerStrategy::Create(cluster));
  PSTRAIN_ASSIGN_OR_RETURN(auto coordinator, ClusterCoordinator::Create(strategy));
  const auto scope = strategy.Scope();
  const auto declared = parts == "shape" ? Variable::Create(kTotal, Shape{3}, initializers::Zeros(),
                                                            optimizers::None{}, DType::kInt64)
                        : parts == "dtype"
                            ? Variable::Create(kTotal, Shape{}, initializers::Zeros())
                            : Variable::Create(kTotal, Shape{}, initializers::Zeros(),
                                               optimizers::None{}, DType::kInt64);
  PSTRAIN_RETURN_IF_ERROR(declared.status());
  PSTRAIN_ASSIGN_OR_RETURN(auto manager, CheckpointManager::Create(coordinator));
  PSTRAIN_RETURN_IF_ERROR(manager.RestoreOrInitialize().status());
  PSTRAIN_RETURN_IF_ERROR(coordinator.Schedule(kFirst, 7).status());
  PSTRAIN_RETURN_IF_ERROR(manager.Save({.mark = 1}));
  WaitAtGate(Setting("PSTRAIN_TEST_DIRECTORY"), "saved", "main");
  return coordinator.Finish();
}

Result<int> Run(const ClusterResolver& cluster) {
  const std::string parts = Setting("PSTRAIN_TEST_PARTS");
  std::unique_ptr<Function<std::int64_t>> second;
  std::unique_ptr<Function<std::int64_t>> another;
  std::unique_ptr<Function<float>> other;
  std::unique_ptr<DatasetFunction> numbers;
  // By new: where that is written counts as the place, and make_unique is written elsewhere.
  if (parts == "signature") {
    other.reset(new Function<float>("Second", OtherSecond));
  } else if (parts != "missing") {
    second.reset(new Function<std::int64_t>("Second", Second));
  }
  if (parts == "twice") another.reset(new Function<std::int64_t>("Second", Second));
  if (parts != "dataset") numbers = std::make_unique<DatasetFunction>("Numbers", Numbers);
  if (cluster.task_type().value_or("chief") == "chief") return Coordinate(cluster, parts);
  return Server(cluster).Join();
}

}  // namespace

int main() { return Program(Run); }
