// A program of somebody who has libpstrain installed: functions that add numbers and records, on
// workers. It ends with 0 when the sum is right.
#include <pstrain/pstrain.h>

#include <chrono>
#include <cstdint>
#include <cstdio>

namespace {

using namespace pstrain;

const VariableRef kSum{"sum"};

Result<Values> AddTo(Step& step, std::int64_t amount) {
  step.Add(kSum, amount);
  return Values{{"amount", amount}};
}
const Function kAddTo{"AddTo", AddTo};

Result<Dataset> Records(const InputContext&) { return Dataset::Range(101).Batch(10); }
const DatasetFunction kRecords{"Records", Records};

Result<Values> AddBatch(Step& step, Iterator& input) {
  PSTRAIN_ASSIGN_OR_RETURN(const PerReplica<Element> batch, input.Next());
  PSTRAIN_ASSIGN_OR_RETURN(const Element element, batch.Get(0));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor values, element.Get("value"));
  PSTRAIN_ASSIGN_OR_RETURN(const auto records, values.data<std::int64_t>());
  for (const std::int64_t record : records) {
    step.Add(kSum, record);
    step.metric("mean").Add(static_cast<double>(record));
  }
  return Values();
}
const Function kAddBatch{"AddBatch", AddBatch};

Result<Values> ReadSum(Step& step) {
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor sum, step.Read(kSum));
  return Values{{"sum", sum}};
}
const Function kReadSum{"ReadSum", ReadSum};

Result<int> Coordinate() {
  constexpr std::chrono::seconds kSoon{60};
  PSTRAIN_ASSIGN_OR_RETURN(const auto strategy,
                           ParameterServerStrategy::Create({.ps = 2, .workers = 2}));
  PSTRAIN_ASSIGN_OR_RETURN(auto coordinator, ClusterCoordinator::Create(strategy));
  {
    const auto scope = strategy.Scope();
    PSTRAIN_RETURN_IF_ERROR(
        Variable::Create(kSum, Shape{}, initializers::Zeros(), optimizers::None{}, DType::kInt64)
            .status());
  }
  for (std::int64_t i = 1; i <= 100; ++i) {
    PSTRAIN_RETURN_IF_ERROR(coordinator.Schedule(kAddTo, i).status());
  }
  PSTRAIN_ASSIGN_OR_RETURN(const PerWorkerDataset records,
                           coordinator.CreatePerWorkerDataset(kRecords));
  PSTRAIN_ASSIGN_OR_RETURN(const Iterator input, records.Iterate());
  Status scheduled;
  while (scheduled.ok()) scheduled = coordinator.Schedule(kAddBatch, input).status();
  if (scheduled.code() != StatusCode::kOutOfRange) return scheduled;
  PSTRAIN_RETURN_IF_ERROR(coordinator.Join(kSoon));
  PSTRAIN_ASSIGN_OR_RETURN(const RemoteValue reading, coordinator.Schedule(kReadSum));
  PSTRAIN_ASSIGN_OR_RETURN(const Values read, reading.Fetch(kSoon));
  PSTRAIN_ASSIGN_OR_RETURN(const auto sum, read.scalar<std::int64_t>("sum"));
  PSTRAIN_ASSIGN_OR_RETURN(const int code, coordinator.Finish());
  const bool right = sum == 2 * 5050 && coordinator.metric("mean").Value() == 50;
  std::printf("%s\n", right ? "right" : "wrong");
  return right ? code : 1;
}

}  // namespace

int main() { return Program(Coordinate); }
