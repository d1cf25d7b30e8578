// What TensorFlow's tests of the errors of a coordinator say: numbers 111 to 120 of
// docs/tensorflow-map.md.
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>

#include <cstdint>
#include <vector>

#include "tests/library/api/program_fixture.h"

namespace pstrain {
namespace {

Result<Dataset> Hundred(const InputContext&) { return Dataset::Range(100); }
const DatasetFunction kHundred{"Hundred", Hundred};

Result<Values> AddNext(Step& step, Iterator& input) {
  PSTRAIN_ASSIGN_OR_RETURN(const PerReplica<Element> batch, input.Next());
  PSTRAIN_ASSIGN_OR_RETURN(const Element element, batch.Get(0));
  PSTRAIN_ASSIGN_OR_RETURN(const auto value, element.scalar<std::int64_t>("value"));
  step.Add(kCount, value);
  return Values{{"value", value}};
}
const Function kAddNext{"AddNext", AddNext};

class CoordinatorErrorsTest : public CoordinatorFixture {};

TEST_F(CoordinatorErrorsTest, WhenSeveralHaveFailed_ScheduleSaysOneAndJoinNone) {
  StartOneWorker(3);
  gate_is_open = false;
  std::vector<RemoteValue> bad;
  for (int i = 0; i < 3; ++i) bad.push_back(Schedule(kHoldAndFail, "no"));
  AwaitAtTheGate(3);
  gate_is_open = true;
  for (const RemoteValue& value : bad) EXPECT_EQ(ErrorOf(value), AbortedError("HoldAndFail: no"));
  EXPECT_EQ(coordinator().Schedule(kAdd, 1).status(),
            AbortedError("HoldAndFail: no (2 others failed too)"));
  EXPECT_EQ(coordinator().Join(kSoon), OkStatus());
  EXPECT_TRUE(*coordinator().Done());
  EXPECT_EQ(Count(), 0) << "what failed has changed nothing";
}

TEST_F(CoordinatorErrorsTest, WhenAnErrorWasSaid_ItIsGoneAndTheNextOneIsSaid) {
  Start();
  for (const char* why : {"one", "two", "three"}) {
    Schedule(kFail, why);
    EXPECT_EQ(coordinator().Join(kSoon), AbortedError(std::string("Fail: ") + why));
    EXPECT_EQ(coordinator().Join(kSoon), OkStatus());
  }
  Schedule(kAdd, 1);
  EXPECT_EQ(Count(), 1);
}

TEST_F(CoordinatorErrorsTest, WhenAFunctionFails_ItsValueSaysSoEachTimeAndJoinOnce) {
  Start();
  const RemoteValue bad = Schedule(kFail, "of its own");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ErrorOf(bad), AbortedError("Fail: of its own"));
  EXPECT_EQ(coordinator().Join(kSoon), ErrorOf(bad));
  EXPECT_EQ(coordinator().Join(kSoon), OkStatus());
  EXPECT_EQ(ErrorOf(bad), AbortedError("Fail: of its own"));
}

TEST_F(CoordinatorErrorsTest, WhenCallsAreCancelled_TheIteratorGoesOnBehindThem) {
  StartOneWorker(1);
  const Iterator input = *coordinator().CreatePerWorkerDataset(kHundred)->Iterate();
  gate_is_open = false;
  Schedule(kHoldAndFail, "no");
  std::vector<RemoteValue> values;
  for (int i = 0; i < 50; ++i) values.push_back(Schedule(kAddNext, input));
  gate_is_open = true;
  EXPECT_EQ(coordinator().Join(kSoon), AbortedError("HoldAndFail: no"));
  for (int i = 50; i < 100; ++i) values.push_back(Schedule(kAddNext, input));
  EXPECT_EQ(coordinator().Schedule(kAddNext, input).status().code(), StatusCode::kOutOfRange);
  std::int64_t sum = 0;
  std::int64_t cancelled = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    const Result<Values> value = values[static_cast<std::size_t>(i)].Fetch(kSoon);
    if (value.ok()) {
      EXPECT_EQ(*value->scalar<std::int64_t>("value"), i);
      sum += i;
    } else {
      EXPECT_EQ(value.status().code(), StatusCode::kCancelled) << value.status().ToString();
      EXPECT_LT(i, 50);
      ++cancelled;
    }
  }
  EXPECT_GE(cancelled, 40) << "a worker holds a few";
  EXPECT_EQ(Count(), sum);
}

}  // namespace
}  // namespace pstrain
