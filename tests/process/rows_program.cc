// A program whose variables are embedding tables, for rows_run_test.cc.
//
//   rows_program DIRECTORY CALLS
//
// Each call looks rows up, sees that none of them is half changed, and pushes gradients of them;
// the optimizers keep slots. A row always gets the same gradient, so that what becomes of it does
// not depend on the order of the calls. Each of four phases has CALLS calls and ends with a mark.
// At its end `main` prints every row, bit for bit. Where DIRECTORY has a file "kill", the chief
// removes it in the middle of the third phase, and kills itself.
#include <pstrain/pstrain.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace pstrain;

constexpr std::int64_t kPhases = 4;
constexpr std::int64_t kDimension = 3;
/// Rows that calls touch, far apart in tables of many.
constexpr std::int64_t kTouched = 17;
constexpr std::int64_t kApart = std::int64_t{1} << 44;

const VariableRef kAdagrad{"adagrad rows"}, kFtrl{"ftrl rows"};

std::int64_t calls = 1;

Tensor Ids(std::vector<std::int64_t> rows) {
  for (std::int64_t& row : rows) row *= kApart;
  return Tensor::From(std::move(rows));
}

/// Initial values and gradients are the same in all places of a row.
Status CheckWhole(const Tensor& rows) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto values, rows.data<float>());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != values[i - i % kDimension]) return InternalError("wrong: a row is torn");
  }
  return OkStatus();
}

Result<Values> Visit(Step& step, std::int64_t number) {
  const std::int64_t row = number % kTouched;
  const Tensor twice = Ids({row, row});
  const Tensor once = Ids({row});
  PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Lookup({{kAdagrad, twice}, {kFtrl, once}}));
  for (const Tensor& rows : read) PSTRAIN_RETURN_IF_ERROR(CheckWhole(rows));
  const auto slope = 0.25F + static_cast<float>(row);
  PSTRAIN_ASSIGN_OR_RETURN(
      const Tensor of_two,
      Tensor::From(Shape{2, kDimension}, std::vector<float>(2 * kDimension, slope)));
  PSTRAIN_ASSIGN_OR_RETURN(
      const Tensor of_one,
      Tensor::From(Shape{1, kDimension}, std::vector<float>(kDimension, -slope)));
  step.Gradient(kAdagrad, {twice, of_two});
  step.Gradient(kFtrl, {once, of_one});
  return Values();
}
const Function kVisit{"Visit", Visit};

Result<Values> LookupAll(Step& step) {
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < kTouched; ++row) rows.push_back(row);
  const Tensor ids = Ids(std::move(rows));
  PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Lookup({{kAdagrad, ids}, {kFtrl, ids}}));
  return Values{{"adagrad", read[0]}, {"ftrl", read[1]}};
}
const Function kLookupAll{"LookupAll", LookupAll};

Status Declare(const ParameterServerStrategy& strategy) {
  const auto scope = strategy.Scope();
  const Shape shape{kTouched * kApart, kDimension};
  PSTRAIN_RETURN_IF_ERROR(EmbeddingTable::Create(kAdagrad, shape, initializers::Zeros(),
                                                 optimizers::Adagrad{.learning_rate = 0.1})
                              .status());
  return EmbeddingTable::Create(kFtrl, shape, initializers::Zeros(),
                                optimizers::Ftrl{.learning_rate = 0.1})
      .status();
}

Status PrintRows(const Values& rows) {
  for (const char* const table : {"adagrad", "ftrl"}) {
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor all, rows.Get(table));
    PSTRAIN_RETURN_IF_ERROR(CheckWhole(all));
    PSTRAIN_ASSIGN_OR_RETURN(const auto values, all.data<float>());
    for (std::size_t row = 0; row < values.size() / kDimension; ++row) {
      std::printf("row %s %d %a\n", table, static_cast<int>(row),
                  static_cast<double>(values[row * kDimension]));
    }
  }
  return OkStatus();
}

Result<int> Coordinate(const ClusterResolver& cluster, const std::string& kill_file) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto strategy, ParameterServerStrategy::Create(cluster));
  PSTRAIN_ASSIGN_OR_RETURN(auto coordinator, ClusterCoordinator::Create(strategy));
  PSTRAIN_RETURN_IF_ERROR(Declare(strategy));
  PSTRAIN_ASSIGN_OR_RETURN(auto manager, CheckpointManager::Create(coordinator));
  PSTRAIN_ASSIGN_OR_RETURN(std::int64_t phase, manager.RestoreOrInitialize());
  std::printf("begins at mark %d\n", static_cast<int>(phase));
  std::fflush(stdout);
  for (; phase < kPhases; ++phase) {
    for (std::int64_t i = 0; i < calls; ++i) {
      PSTRAIN_ASSIGN_OR_RETURN(const RemoteValue call, coordinator.Schedule(kVisit, i));
      if (phase != 2 || i != calls / 2) continue;
      PSTRAIN_RETURN_IF_ERROR(call.Fetch(Forever()).status());
      if (std::filesystem::remove(kill_file)) kill(getpid(), SIGKILL);
    }
    PSTRAIN_RETURN_IF_ERROR(manager.Save({.mark = phase + 1}));
  }
  PSTRAIN_ASSIGN_OR_RETURN(const RemoteValue looked, coordinator.Schedule(kLookupAll));
  PSTRAIN_ASSIGN_OR_RETURN(const Values rows, looked.Fetch(Forever()));
  PSTRAIN_RETURN_IF_ERROR(PrintRows(rows));
  return coordinator.Finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string kill_file = std::string(argv[1]) + "/kill";
  calls = std::atoi(argv[2]);
  return Program([&](const ClusterResolver& cluster) -> Result<int> {
    if (cluster.task_type().value_or("chief") == "chief") return Coordinate(cluster, kill_file);
    return Server(cluster).Join();
  });
}
