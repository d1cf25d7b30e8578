// Programs that read data, as a person writes them, by the public headers alone: chief, ps and
// workers as threads of this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pstrain {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

constexpr seconds kSoon{120};
constexpr std::int64_t kRecordCount = 1000;

/// How often each record was used.
const VariableRef kUsed{"used"};

std::atomic<bool> may_go_on{true};

Result<Dataset> Records(const InputContext&) {
  return Dataset::Range(kRecordCount).Shuffle(11).Batch(7);
}
const DatasetFunction kRecords{"Records", Records};

Result<Dataset> OfWorkers(const InputContext& context) {
  return Dataset::Range(kRecordCount).Shard(context.num_workers(), context.worker_index()).Batch(9);
}
const DatasetFunction kOfWorkers{"OfWorkers", OfWorkers};

Result<Dataset> Generated(const InputContext&) {
  return Dataset::Generator([]() -> Dataset::NextElement {
    return [next = std::int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (next == 40) return std::optional<Element>();
      return std::optional(Element{{"value", Tensor::From(Numbers{next++})}});
    };
  });
}
const DatasetFunction kGenerated{"Generated", Generated};

Result<Dataset> Absent(const InputContext&) { return Dataset::Csv({"/absent/file.csv"}); }
const DatasetFunction kAbsent{"Absent", Absent};

Result<Dataset> Throwing(const InputContext&) { throw std::runtime_error("of its own"); }
const DatasetFunction kThrowing{"Throwing", Throwing};

Result<Dataset> BadMap(const InputContext&) {
  return Dataset::Range(9).Map(
      [](const Element&) -> Result<Element> { return AbortedError("a bad map"); });
}
const DatasetFunction kBadMap{"BadMap", BadMap};

Status Use(Step& step, Iterator& input) {
  PSTRAIN_ASSIGN_OR_RETURN(const PerReplica<Element> batch, input.Next());
  PSTRAIN_ASSIGN_OR_RETURN(const Element element, batch.Get(0));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor values, element.Get("value"));
  PSTRAIN_ASSIGN_OR_RETURN(const auto records, values.data<std::int64_t>());
  Numbers used(kRecordCount);
  for (const std::int64_t record : records) ++used[static_cast<std::size_t>(record)];
  step.Add(kUsed, Tensor::From(std::move(used)));
  for (const std::int64_t record : records) {
    step.metric("mean").Add(static_cast<double>(record));
  }
  return OkStatus();
}
Result<Values> UseOne(Step& step, Iterator& input) {
  PSTRAIN_RETURN_IF_ERROR(Use(step, input));
  return Values();
}
const Function kUseOne{"UseOne", UseOne};

Result<Values> UseAll(Step& step, Iterator& input) {
  Status status;
  std::int64_t elements = -1;
  for (; status.ok(); ++elements) status = Use(step, input);
  return Values{{"elements", elements}, {"code", static_cast<std::int64_t>(status.code())}};
}
const Function kUseAll{"UseAll", UseAll};

Result<Values> UseTwo(Step& step, Iterator& first, Iterator& second) {
  PSTRAIN_RETURN_IF_ERROR(Use(step, first));
  PSTRAIN_RETURN_IF_ERROR(Use(step, second));
  return Values();
}
const Function kUseTwo{"UseTwo", UseTwo};

Result<Values> ReadUsed(Step& step) {
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor used, step.Read(kUsed));
  // All of them are more than a function returns.
  PSTRAIN_ASSIGN_OR_RETURN(const auto all, used.data<std::int64_t>());
  std::int64_t sum = 0;
  for (const std::int64_t count : all) sum += count;
  const auto [least, most] = std::ranges::minmax(all);
  return Values{{"sum", sum}, {"least", least}, {"most", most}};
}
const Function kReadUsed{"ReadUsed", ReadUsed};

Result<Values> Measure(Step& step, double numerator, double denominator, bool fail) {
  while (!may_go_on) std::this_thread::yield();
  step.metric("loss").Add(numerator, denominator);
  if (fail) return AbortedError("after it has measured");
  return Values();
}
const Function kMeasure{"Measure", Measure};

Result<Values> MeasureUnnamed(Step& step) {
  step.metric("").Add(1);
  return Values();
}
const Function kMeasureUnnamed{"MeasureUnnamed", MeasureUnnamed};

class RunDataTest : public testing::Test {
 protected:
  RunDataTest() { may_go_on = true; }

  void Start(const StrategyOptions& options = {
                 .ps = 2, .workers = 3, .closures_per_worker = 2, .shards = 5}) {
    Result<ParameterServerStrategy> strategy = ParameterServerStrategy::Create(options);
    ASSERT_TRUE(strategy.ok()) << strategy.status().ToString();
    strategy_ = *std::move(strategy);
    program_ = *ClusterCoordinator::Create(*strategy_);
    const auto scope = strategy_->Scope();
    const auto created = Variable::Create(kUsed, Shape{kRecordCount}, initializers::Zeros(),
                                          optimizers::None{}, DType::kInt64);
    ASSERT_TRUE(created.ok()) << created.status().ToString();
  }
  ClusterCoordinator& coordinator() { return *program_; }
  PerWorkerDataset Open(const DatasetFunction& function) {
    const Result<PerWorkerDataset> opened = coordinator().CreatePerWorkerDataset(function);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return *opened;
  }
  /// Schedules calls until the data has ended; how many there were.
  int ScheduleAll(const Function<Iterator&>& function, const Iterator& input) {
    for (int calls = 0;; ++calls) {
      const Status status = coordinator().Schedule(function, input).status();
      if (status.ok()) continue;
      EXPECT_EQ(status.code(), StatusCode::kOutOfRange) << status.ToString();
      return calls;
    }
  }
  void ExpectEachUsed(std::int64_t times) {
    ASSERT_EQ(coordinator().Join(kSoon), OkStatus());
    const Result<Values> used = coordinator().Schedule(kReadUsed)->Fetch(kSoon);
    ASSERT_TRUE(used.ok()) << used.status().ToString();
    EXPECT_EQ(*used, (Values{{"sum", times * kRecordCount}, {"least", times}, {"most", times}}));
  }

  std::optional<ParameterServerStrategy> strategy_;
  std::optional<ClusterCoordinator> program_;
};

TEST_F(RunDataTest, WhenAllIsScheduled_EachRecordIsUsedOnce) {
  Start();
  const PerWorkerDataset records = Open(kRecords);
  EXPECT_EQ(records.cardinality(), 143);
  const Iterator input = *records.Iterate();
  EXPECT_EQ(ScheduleAll(kUseOne, input), 143);
  ExpectEachUsed(1);
  EXPECT_EQ(coordinator().metric("mean").Count(), kRecordCount);
  EXPECT_EQ(coordinator().metric("mean").Value(), (kRecordCount - 1) / 2.0);
  EXPECT_EQ(ScheduleAll(kUseOne, *records.Iterate()), 143) << "a fresh iterator begins again";
  ExpectEachUsed(2);
  EXPECT_EQ(*coordinator().Finish(), 0);
}

TEST_F(RunDataTest, WhenWorkersHaveTheirParts_EachRecordIsUsedOnce) {
  Start();
  const PerWorkerDataset records = Open(kOfWorkers);
  EXPECT_EQ(records.cardinality(), 38 + 37 + 37);
  EXPECT_EQ(ScheduleAll(kUseOne, *records.Iterate()), 112);
  ExpectEachUsed(1);
}

TEST_F(RunDataTest, WhenACallIsGivenSeveralElements_ItMayTakeThem) {
  Start();
  const Iterator input = *Open(kRecords).Iterate({.elements_per_call = 10});
  std::vector<RemoteValue> values;
  while (true) {
    const Result<RemoteValue> value = coordinator().Schedule(kUseAll, input);
    if (!value.ok()) break;
    values.push_back(*value);
  }
  ASSERT_EQ(values.size(), 15U);
  ExpectEachUsed(1);
  const auto code = [](StatusCode of) { return static_cast<std::int64_t>(of); };
  EXPECT_EQ(*values[0].Fetch(kSoon), (Values{{"elements", std::int64_t{10}},
                                             {"code", code(StatusCode::kFailedPrecondition)}}));
  EXPECT_EQ(*values[14].Fetch(kSoon),
            (Values{{"elements", std::int64_t{3}}, {"code", code(StatusCode::kOutOfRange)}}));
}

TEST_F(RunDataTest, WhenACallHasTwoIterators_EachGivesItsOwn) {
  Start();
  const PerWorkerDataset records = Open(kRecords);
  const Iterator one = *records.Iterate();
  const Iterator other = *records.Iterate();
  for (int i = 0; i < 143; ++i) ASSERT_TRUE(coordinator().Schedule(kUseTwo, one, other).ok());
  EXPECT_EQ(coordinator().Schedule(kUseTwo, one, other).status().code(), StatusCode::kOutOfRange);
  ExpectEachUsed(2);
}

TEST_F(RunDataTest, WhenACallIsNotScheduled_ItTakesNoElement) {
  Start();
  const PerWorkerDataset records = Open(kRecords);
  const Iterator whole = *records.Iterate();
  const Iterator used_up = *records.Iterate();
  EXPECT_EQ(ScheduleAll(kUseOne, used_up), 143);
  EXPECT_EQ(coordinator().Schedule(kUseTwo, whole, used_up).status().code(),
            StatusCode::kOutOfRange);
  Status other;
  std::thread([&] { other = coordinator().Schedule(kUseOne, whole).status(); }).join();
  EXPECT_EQ(other.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(ScheduleAll(kUseOne, whole), 143);
  ExpectEachUsed(2);
}

TEST_F(RunDataTest, WhenAFunctionTakesOneMore_ItSaysTheWayOut) {
  Start();
  const PerWorkerDataset records = Open(kRecords);
  const auto scheduled = coordinator().Schedule(kUseTwo, *records.Iterate(), *records.Iterate());
  ASSERT_TRUE(scheduled.ok());
  EXPECT_TRUE(scheduled->Fetch(kSoon).ok());
  Iterator input = *records.Iterate();
  const Status here = input.Next().status();
  EXPECT_EQ(here.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(here.message(), HasSubstr("Schedule"));
  const Iterator local = *Dataset::Range(4).Iterate();
  EXPECT_EQ(coordinator().Schedule(kUseOne, local).status().code(), StatusCode::kInvalidArgument);
  for (const std::int64_t elements : {0, -1, 65537}) {
    EXPECT_EQ(records.Iterate({.elements_per_call = elements}).status().code(),
              StatusCode::kInvalidArgument);
  }
}

TEST_F(RunDataTest, OfAGenerator_TheEndIsTheErrorOfWhoFindsIt) {
  Start({.ps = 1, .workers = 2});
  const PerWorkerDataset generated = Open(kGenerated);
  EXPECT_EQ(generated.cardinality(), Dataset::kUnknownCardinality);
  const Iterator input = *generated.Iterate();
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(coordinator().Schedule(kUseOne, input).ok());
  ASSERT_EQ(coordinator().Join(kSoon), OkStatus());
  EXPECT_EQ(coordinator().metric("mean").Count(), 40);
  EXPECT_EQ(coordinator().metric("mean").Value(), 39 / 2.0);
  ASSERT_TRUE(coordinator().Schedule(kUseOne, input).ok());
  const Status end = coordinator().Join(kSoon);
  EXPECT_EQ(end.code(), StatusCode::kOutOfRange);
  EXPECT_THAT(end.message(), HasSubstr("dataset Generated has ended"));
}

TEST_F(RunDataTest, WhenADatasetIsWrong_CreateSaysSo) {
  Start({.ps = 1, .workers = 1});
  const Status absent = coordinator().CreatePerWorkerDataset(kAbsent).status();
  EXPECT_EQ(absent.code(), StatusCode::kNotFound);
  EXPECT_THAT(absent.message(), HasSubstr("dataset Absent: /absent/file.csv"));
  const Status thrown = coordinator().CreatePerWorkerDataset(kThrowing).status();
  EXPECT_EQ(thrown.code(), StatusCode::kInternal);
  EXPECT_THAT(thrown.message(), HasSubstr("of its own"));
  const Iterator input = *Open(kBadMap).Iterate();
  ASSERT_TRUE(coordinator().Schedule(kUseOne, input).ok());
  const Status mapped = coordinator().Join(kSoon);
  EXPECT_EQ(mapped.code(), StatusCode::kAborted);
  EXPECT_EQ(mapped.message(), "UseOne: Map of element 0: a bad map");
}

TEST_F(RunDataTest, OfMetrics_OnlySuccessesCountOnce) {
  Start();
  Metric loss = coordinator().metric("loss");
  EXPECT_EQ(loss.Value(), 0);
  for (int i = 1; i <= 100; ++i) {
    ASSERT_TRUE(coordinator().Schedule(kMeasure, static_cast<double>(i), 2.0, false).ok());
  }
  ASSERT_EQ(coordinator().Join(kSoon), OkStatus());
  EXPECT_EQ(loss.Count(), 200);
  EXPECT_EQ(loss.Value(), 5050.0 / 200);
  ASSERT_TRUE(coordinator().Schedule(kMeasure, 1.0, 1.0, true).ok());
  EXPECT_EQ(coordinator().Join(kSoon).code(), StatusCode::kAborted);
  EXPECT_EQ(loss.Count(), 200) << "what failed adds nothing";
  may_go_on = false;
  ASSERT_TRUE(coordinator().Schedule(kMeasure, 7.0, 1.0, false).ok());
  loss.Reset();
  ASSERT_TRUE(coordinator().Schedule(kMeasure, 3.0, 1.0, false).ok());
  may_go_on = true;
  ASSERT_EQ(coordinator().Join(kSoon), OkStatus());
  EXPECT_EQ(loss.Value(), 3) << "what was scheduled before does not count";
}

TEST_F(RunDataTest, WhenWhatIsMeasuredIsNoNumber_TheFunctionFails) {
  Start({.ps = 1, .workers = 1});
  for (const auto& [numerator, denominator] :
       {std::pair(std::numeric_limits<double>::quiet_NaN(), 1.0),
        std::pair(1.0, std::numeric_limits<double>::infinity())}) {
    ASSERT_TRUE(coordinator().Schedule(kMeasure, numerator, denominator, false).ok());
    const Status error = coordinator().Join(kSoon);
    EXPECT_EQ(error.code(), StatusCode::kOutOfRange);
    EXPECT_THAT(error.message(), HasSubstr("metric loss"));
  }
  ASSERT_TRUE(coordinator().Schedule(kMeasureUnnamed).ok());
  EXPECT_EQ(coordinator().Join(kSoon).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(coordinator().metric("loss").Count(), 0);
}

}  // namespace
}  // namespace pstrain
