// A program of several processes whose every variable has a closed form of integers, for
// program_run_test.cc.
//
//   counting_program PHASES CALLS MILLISECONDS
//
// Each call counts its number in five ways, two of them in rows of tables, two in variables of
// three partitions, and takes so long; after each phase the chief compares what it reads with the
// closed form. PSTRAIN_TEST_MAIN: "fail", the chief's main fails after the first phase; "forget",
// it returns 0 without Finish; "marks", it saves a mark after each phase, and goes on from the
// newest one. PSTRAIN_TEST_FILL: a file that fills its disk before each mark, until that has
// failed. PSTRAIN_TEST_MORE: this process has a function more than the others.
#include <pstrain/pstrain.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace pstrain;

constexpr std::int64_t kPlaces = 100;
/// Rows that calls touch, of many that there could be.
constexpr std::int64_t kTouched = 20;
constexpr std::int64_t kApart = std::int64_t{1} << 40;

const VariableRef kSum{"sum"}, kEach{"each"}, kWeights{"weights"};
const VariableRef kRowCounts{"row counts"}, kRowWeights{"row weights"};

int phases = 1;
int calls = 1;
int milliseconds = 0;

Result<Values> Count(Step& step, std::int64_t number) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  std::vector<std::int64_t> each(kPlaces);
  each[static_cast<std::size_t>(number % kPlaces)] = 1;
  step.Add(kSum, number);
  step.Add(kEach, Tensor::From(std::move(each)));
  step.Gradient(kWeights, Tensor::From(std::vector<float>(10, -1.0F)));
  // The row of the number, and twice the one behind it.
  const std::int64_t next = (number + 1) % kTouched * kApart;
  const Tensor ids =
      Tensor::From(std::vector<std::int64_t>{next, number % kTouched * kApart, next});
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor ones,
                           Tensor::From(Shape{3, 1}, std::vector<std::int64_t>(3, 1)));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor down,
                           Tensor::From(Shape{3, 2}, std::vector<float>(6, -1.0F)));
  step.Add(kRowCounts, {ids, ones});
  step.Gradient(kRowWeights, {ids, down});
  step.metric("number").Add(static_cast<double>(number));
  return Values{{"number", number}};
}
const Function kCount{"Count", Count};

Result<Values> ReadAll(Step& step) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Read(kSum, kEach, kWeights));
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < kTouched; ++i) ids.push_back(i * kApart);
  const Tensor rows = Tensor::From(std::move(ids));
  PSTRAIN_ASSIGN_OR_RETURN(const auto of_tables,
                           step.Lookup({{kRowCounts, rows}, {kRowWeights, rows}}));
  return Values{{"sum", read[0]},
                {"each", read[1]},
                {"weights", read[2]},
                {"row counts", of_tables[0]},
                {"row weights", of_tables[1]}};
}
const Function kReadAll{"ReadAll", ReadAll};

std::string Mode() {
  const char* mode = std::getenv("PSTRAIN_TEST_MAIN");
  return mode == nullptr ? std::string() : mode;
}

// How many of the numbers from 0 to `count` - 1 have that remainder.
std::int64_t CountOf(std::int64_t count, std::int64_t remainder, std::int64_t divisor) {
  return (count - remainder + divisor - 1) / divisor;
}

// The rows of both tables, when each number has come to its row and twice to the next one.
Status CompareRows(const Values& read, std::int64_t count) {
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor counts, read.Get("row counts"));
  PSTRAIN_ASSIGN_OR_RETURN(const auto rows, counts.data<std::int64_t>());
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor weights, read.Get("row weights"));
  PSTRAIN_ASSIGN_OR_RETURN(const auto values, weights.data<float>());
  for (std::int64_t i = 0; i < kTouched; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const std::int64_t expected =
        CountOf(count, i, kTouched) + 2 * CountOf(count, (i + kTouched - 1) % kTouched, kTouched);
    const auto weight = static_cast<float>(expected);
    if (rows[row] == expected && values[2 * row] == weight && values[2 * row + 1] == weight) {
      continue;
    }
    return InternalError("wrong: row " + std::to_string(i) + " has " + std::to_string(rows[row]) +
                         " and " + std::to_string(values[2 * row]) + " instead of " +
                         std::to_string(expected));
  }
  return OkStatus();
}

// All numbers from 0 to `count` - 1, each once.
Status Compare(const Values& read, const Metric& metric, std::int64_t count) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto sum, read.scalar<std::int64_t>("sum"));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor each, read.Get("each"));
  PSTRAIN_ASSIGN_OR_RETURN(const auto places, each.data<std::int64_t>());
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor weights, read.Get("weights"));
  PSTRAIN_ASSIGN_OR_RETURN(const auto values, weights.data<float>());
  const std::int64_t expected = count * (count - 1) / 2;
  bool right = sum == expected && metric.Count() == static_cast<double>(count) &&
               metric.Value() * static_cast<double>(count) == static_cast<double>(expected);
  for (std::int64_t i = 0; i < kPlaces; ++i) {
    right = right && places[static_cast<std::size_t>(i)] == CountOf(count, i, kPlaces);
  }
  for (const float value : values) right = right && value == static_cast<float>(count);
  if (right) return CompareRows(read, count);
  return InternalError("wrong: of " + std::to_string(count) + " numbers the sum is " +
                       std::to_string(sum) + " and not " + std::to_string(expected));
}

Status Declare(const ParameterServerStrategy& strategy) {
  const auto scope = strategy.Scope();
  const auto integers = [](const VariableRef& ref, Shape shape) {
    return Variable::Create(ref, std::move(shape), initializers::Zeros(), optimizers::None{},
                            DType::kInt64)
        .status();
  };
  PSTRAIN_RETURN_IF_ERROR(integers(kSum, Shape{}));
  PSTRAIN_RETURN_IF_ERROR(integers(kEach, Shape{kPlaces}));
  PSTRAIN_RETURN_IF_ERROR(Variable::Create(kWeights, Shape{10}, initializers::Zeros(),
                                           optimizers::Sgd{.learning_rate = 1})
                              .status());
  PSTRAIN_RETURN_IF_ERROR(EmbeddingTable::Create(kRowCounts, Shape{kTouched * kApart, 1},
                                                 initializers::Zeros(), optimizers::None{},
                                                 DType::kInt64)
                              .status());
  PSTRAIN_RETURN_IF_ERROR(EmbeddingTable::Create(kRowWeights, Shape{kTouched * kApart, 2},
                                                 initializers::Zeros(),
                                                 optimizers::Sgd{.learning_rate = 1})
                              .status());
  return OkStatus();
}

void FillDisk(const char* path) {
  std::ofstream file(path, std::ios::binary);
  const std::string block(4096, 'x');
  while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
  }
}

// A disk that is full costs the mark, not the program.
Status Save(CheckpointManager& manager, std::int64_t mark) {
  const char* const filler = std::getenv("PSTRAIN_TEST_FILL");
  if (filler != nullptr) FillDisk(filler);
  while (true) {
    const Status status = manager.Save({.mark = mark});
    if (status.code() != StatusCode::kResourceExhausted || filler == nullptr) return status;
    std::printf("no mark: %s\n", status.message().c_str());
    std::fflush(stdout);
    std::remove(filler);
  }
}

Result<int> Coordinate(const ClusterResolver& cluster) {
  PSTRAIN_ASSIGN_OR_RETURN(
      const auto strategy,
      ParameterServerStrategy::Create(
          cluster, {.ps = 2,
                    .workers = 2,
                    .variable_partitioner = partitioners::FixedShardsPartitioner(3)}));
  PSTRAIN_ASSIGN_OR_RETURN(auto coordinator, ClusterCoordinator::Create(strategy));
  PSTRAIN_RETURN_IF_ERROR(Declare(strategy));
  std::optional<CheckpointManager> manager;
  std::int64_t phase = 0;
  if (Mode() == "marks") {
    PSTRAIN_ASSIGN_OR_RETURN(manager, CheckpointManager::Create(coordinator));
    PSTRAIN_ASSIGN_OR_RETURN(phase, manager->RestoreOrInitialize());
    std::printf("begins at mark %d\n", static_cast<int>(phase));
    std::fflush(stdout);
  }
  std::int64_t number = phase * calls;
  for (; phase < phases; ++phase) {
    for (int i = 0; i < calls; ++i) {
      PSTRAIN_RETURN_IF_ERROR(coordinator.Schedule(kCount, number++).status());
    }
    PSTRAIN_RETURN_IF_ERROR(coordinator.Join(Forever()));
    PSTRAIN_ASSIGN_OR_RETURN(const RemoteValue reading, coordinator.Schedule(kReadAll));
    PSTRAIN_ASSIGN_OR_RETURN(const Values read, reading.Fetch(Forever()));
    PSTRAIN_RETURN_IF_ERROR(Compare(read, coordinator.metric("number"), number));
    if (manager) PSTRAIN_RETURN_IF_ERROR(Save(*manager, phase + 1));
    if (Mode() == "fail") return OutOfRangeError("main has had enough");
    if (Mode() == "forget") return 0;
  }
  PSTRAIN_ASSIGN_OR_RETURN(const int code, coordinator.Finish());
  std::printf("right\n");
  return code;
}

Result<int> Run(const ClusterResolver& cluster) {
  std::unique_ptr<Function<>> more;
  if (std::getenv("PSTRAIN_TEST_MORE") != nullptr) {
    more = std::make_unique<Function<>>("Another", ReadAll);
  }
  if (cluster.task_type().value_or("chief") == "chief") return Coordinate(cluster);
  return Server(cluster).Join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  phases = std::atoi(argv[1]);
  calls = std::atoi(argv[2]);
  milliseconds = std::atoi(argv[3]);
  return Program(Run);
}
