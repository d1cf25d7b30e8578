// Functions that change nothing: they read as others do, and no shard hears of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/library/worker/loop_fixture.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

class ReadOnlyLoopTest : public ClosureLoopTest {
 protected:
  ReadOnlyLoopTest() {
    kind_ = kReadOnlyWork;
    closures_ = {{kAttempt, {}}};
  }
  static ClosureOutcome Look(ClosureReads& reads) {
    ClosureOutcome outcome;
    const auto read = reads.Read({{kDense}, {}});
    if (!read.ok()) return ClosureOutcome::Failed(read.status());
    outcome.result = std::to_string(read->dense.size());
    return outcome;
  }
  /// It says nothing of a shard.
  static void ExpectOfNoShard(const Report& report) {
    EXPECT_EQ(FromWire(report.work_id()), kAttempt);
    EXPECT_EQ(report.shards().count(), 0U);
    EXPECT_EQ(report.early().count(), 0U);
    EXPECT_FALSE(report.missed());
  }

  static constexpr WorkId kAttempt{kFirstReadOnlyChunk, 0};
};

TEST_F(ReadOnlyLoopTest, WhenItReturns_ItsResultIsReportedAndNothingIsPushed) {
  FakeRunner runner([](int, ClosureReads& reads) { return Look(reads); });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 1);
  ASSERT_EQ(reports().size(), 1U);
  ExpectOfNoShard(reports()[0]);
  EXPECT_EQ(reports()[0].result(), "1");
  EXPECT_FALSE(reports()[0].has_error());
  ExpectApplied(0);
}

TEST_F(ReadOnlyLoopTest, WhenItFails_ItsErrorIsReported) {
  FakeRunner runner([](int, ClosureReads&) { return Fail("no"); });
  EXPECT_EQ(Run(runner), OkStatus());
  ASSERT_EQ(reports().size(), 1U);
  ExpectOfNoShard(reports()[0]);
  EXPECT_EQ(reports()[0].error().message(), "no");
  ExpectApplied(0);
}

// As in a worker of another build.
TEST_F(ReadOnlyLoopTest, WhenItChangesSomething_ThatIsItsErrorAndNothingIsPushed) {
  FakeRunner runner([](int, ClosureReads&) { return Succeed(); });
  EXPECT_EQ(Run(runner), OkStatus());
  ASSERT_EQ(reports().size(), 1U);
  ExpectOfNoShard(reports()[0]);
  EXPECT_EQ(reports()[0].error().code(),
            static_cast<std::uint32_t>(StatusCode::kFailedPrecondition));
  EXPECT_THAT(reports()[0].error().message(), HasSubstr("writes = false"));
  ExpectApplied(0);
}

TEST_F(ReadOnlyLoopTest, WhenItReturnsTooMuch_ThatIsItsError) {
  FakeRunner runner([](int, ClosureReads&) {
    ClosureOutcome outcome;
    outcome.result = std::string(kMostResultBytes + 1, 'x');
    return outcome;
  });
  EXPECT_EQ(Run(runner), OkStatus());
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0].error().code(),
            static_cast<std::uint32_t>(StatusCode::kResourceExhausted));
  EXPECT_EQ(reports()[0].result(), "");
}

TEST_F(ReadOnlyLoopTest, WhenAShardLacksWhatItIsAfter_ItIsGivenBackWhateverItReturns) {
  closures_ = {{kAttempt, {0, 1}}};
  FakeRunner runner([](int, ClosureReads& reads) {
    const ClosureOutcome outcome = Look(reads);
    return outcome.status.ok() ? outcome : ClosureOutcome();
  });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 2);
  ExpectApplied(1);  // the test's
  ASSERT_EQ(reports().size(), 2U);
  EXPECT_EQ(reports()[0].early().count(), 1U);
  EXPECT_EQ(reports()[0].result(), "");
  EXPECT_EQ(reports()[1].result(), "1");
}

// The shards are those of chief 1.
TEST_F(ReadOnlyLoopTest, WhenAShardIsOfAnotherChief_ItReadsNothingThere) {
  first_grants_term_ = 2;
  FakeRunner runner([](int call, ClosureReads& reads) {
    const ClosureOutcome outcome = Look(reads);
    EXPECT_EQ(outcome.status.ok(), call > 0);
    return outcome;
  });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 2);
  ASSERT_EQ(reports().size(), 1U) << "the first attempt is given back without a word";
  EXPECT_EQ(reports()[0].result(), "1");
}

}  // namespace
}  // namespace pstrain
