#include "library/worker/closure_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/cluster/limits.h"
#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_shards.h"
#include "tests/library/worker/loop_fixture.h"
#include "tests/runtime/worker/test_chief.h"
#include "tests/runtime/worker/two_ps_test.h"

namespace pstrain {
namespace {

TEST_F(ClosureLoopTest, WhenAFunctionSucceeds_ItsChangesAreAppliedAndItsResultReported) {
  FakeRunner runner([](int, ClosureReads& reads) {
    const auto read = reads.Read({{kDense}, {}});
    EXPECT_TRUE(read.ok()) << read.status().ToString();
    return Succeed();
  });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 1);
  EXPECT_EQ(runner.declared, 2U);
  ExpectApplied(1);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0].result(), "done");
  EXPECT_FALSE(reports()[0].has_error());
}

TEST_F(ClosureLoopTest, WhenAFunctionFails_ItIsLeftOutAndItsErrorReported) {
  FakeRunner runner([](int, ClosureReads&) { return Fail("no luck"); });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 1);
  ExpectApplied(0);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0].error().code(), static_cast<std::uint32_t>(StatusCode::kInternal));
  EXPECT_EQ(reports()[0].error().message(), "no luck");
  EXPECT_EQ(reports()[0].result(), "");
}

TEST_F(ClosureLoopTest, WhenAClosureIsVoided_ItIsNotRun) {
  kind_ = kVoidWork;
  FakeRunner runner([](int, ClosureReads&) { return Succeed(); });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 0);
  ExpectApplied(0);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0].error().code(), static_cast<std::uint32_t>(StatusCode::kCancelled));
}

TEST_F(ClosureLoopTest, WhenAVoidedClosureHasComeToAShard_ItRunsForTheOthers) {
  PushToTheFirstPs();
  kind_ = kVoidWork;
  FakeRunner runner([](int, ClosureReads&) { return Succeed(); });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 1);
  ExpectApplied(1);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0].result(), "done");
}

TEST_F(ClosureLoopTest, WhenItFailsAfterAnotherAttemptHasComeToAShard_ItRunsAgain) {
  PushToTheFirstPs();
  FakeRunner runner([](int call, ClosureReads&) { return call < 5 ? Fail("no") : Succeed(); });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 6) << "for as long as the chief grants it";
  ExpectApplied(1);
  ASSERT_EQ(reports().size(), 6U);
  for (int i = 0; i < 5; ++i) ExpectFailedAttempt(reports()[static_cast<std::size_t>(i)], "no");
  EXPECT_FALSE(reports()[5].has_error());
}

TEST_F(ClosureLoopTest, WhenAVoidedOneFailsThatAShardHas_ItIsGivenBack) {
  PushToTheFirstPs();
  kind_ = kVoidWork;
  FakeRunner runner([](int call, ClosureReads&) { return call < 1 ? Fail("no") : Succeed(); });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 2);
  ExpectApplied(1);
  ASSERT_EQ(reports().size(), 2U);
  ExpectFailedAttempt(reports()[0], "no");
}

// No shard of the test has it: had the first attempt left it out, the second would find that.
TEST_F(ClosureLoopTest, WhenARepairFails_NothingIsPushed) {
  kind_ = kRepairWork;
  FakeRunner runner([this](int call, ClosureReads&) {
    if (call > 0) {
      EXPECT_EQ(ps_[0].handler.stats().requests, 0U);
      EXPECT_EQ(ps_[1].handler.stats().requests, 0U);
    }
    return call < 2 ? Fail("no") : Succeed();
  });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 3);
  ExpectApplied(1);
  ASSERT_EQ(reports().size(), 3U);
  ExpectFailedAttempt(reports()[0], "no");
  ExpectFailedAttempt(reports()[1], "no");
  EXPECT_EQ(reports()[2].result(), "done");
}

TEST_F(ClosureLoopTest, WhenAClosureIsLost_ShardsThatHaveItKeepIt) {
  PushToTheFirstPs();
  kind_ = kLostWork;
  FakeRunner runner([](int, ClosureReads&) { return Succeed(); });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 0);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0].shards().count(), kShards);
  EXPECT_TRUE(reports()[0].has_error());
  EXPECT_EQ(reports()[0].result(), kSomeShardsHaveIt);
  const StepAccess plan = SamplePlan({1, 2, 3, 500});
  const ShardId of_ps_1[] = {1, 3};
  const auto again = client_->Push({kWorkId, 1, 0, 1}, client_->Route({}).value(), {},
                                   SampleMembership(kAddresses), of_ps_1);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  for (const ShardPush& shard : again->shards)
    EXPECT_EQ(shard.outcome, ShardOutcome::kDuplicate) << "left out, as it lacked it";
}

TEST_F(ClosureLoopTest, WhenALostClosureIsNowhere_ItsReportSaysSo) {
  kind_ = kLostWork;
  FakeRunner runner([](int, ClosureReads&) { return Succeed(); });
  EXPECT_EQ(Run(runner), OkStatus());
  ExpectApplied(0);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_TRUE(reports()[0].has_error());
  EXPECT_EQ(reports()[0].result(), kNoShardHasIt);
}

TEST_F(ClosureLoopTest, WhenALostClosureIsOnAllShards_ItsReportSaysSo) {
  PushTheFirst();
  kind_ = kLostWork;
  FakeRunner runner([](int, ClosureReads&) { return Succeed(); });
  EXPECT_EQ(Run(runner), OkStatus());
  ExpectApplied(1);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0].result(), kAllShardsHaveIt);
}

TEST_F(ClosureLoopTest, WhenAReadIsEarly_NothingOfTheAttemptIsSent) {
  closures_.clear();
  closures_[{0, 1}] = {0, 1};
  FakeRunner runner([](int, ClosureReads& reads) {
    const auto read = reads.Read({{kDense}, {}});
    if (!read.ok()) {
      EXPECT_EQ(read.status().code(), StatusCode::kCancelled);
      EXPECT_EQ(reads.Read({{kDense}, {}}).status().code(), StatusCode::kCancelled);
    }
    return Succeed();  // whatever it has read
  });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 2);
  ExpectApplied(2);  // the test's, and this one
  ASSERT_EQ(reports().size(), 2U);
  EXPECT_EQ(reports()[0].early().count(), 1U);
  EXPECT_EQ(reports()[0].shards().count(), 0U);
}

TEST_F(ClosureLoopTest, WhenWhatComesOutCannotBeSent_ThatIsTheFunctionsError) {
  FakeRunner runner([](int, ClosureReads&) {
    ClosureOutcome outcome = Succeed();
    outcome.result.assign(kMostResultBytes + 1, 'x');
    outcome.function = "Large";
    return outcome;
  });
  EXPECT_EQ(Run(runner), OkStatus());
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(static_cast<StatusCode>(reports()[0].error().code()), StatusCode::kResourceExhausted);
  EXPECT_TRUE(reports()[0].error().message().starts_with("Large returns 1048577 bytes"));
  ExpectApplied(0);
}

TEST_F(ClosureLoopTest, WhenItChangesWhatIsNotThere_ThatIsTheFunctionsError) {
  FakeRunner runner([](int, ClosureReads&) {
    ClosureOutcome outcome;
    outcome.updates.dense.push_back({77, ValueArray(std::vector<float>{1})});
    return outcome;
  });
  EXPECT_EQ(Run(runner), OkStatus());
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0].error().code(), static_cast<std::uint32_t>(StatusCode::kInvalidArgument));
}

/// Eight closures, whose functions end together. The first push stays between the two ps until all
/// others are there.
class ClosureLoopTogetherTest : public ClosureLoopTest {
 protected:
  static constexpr std::uint32_t kClosures = 8;

  void SetUp() override {
    ClosureLoopTest::SetUp();
    if (HasFatalFailure()) return;
    closures_.clear();
    for (std::uint32_t i = 1; i <= kClosures; ++i) closures_[{0, i}] = {};
    PsClientOptions options;
    options.deadline = std::chrono::seconds(60);  // of the first push too
    options.between_pushes = [this] {
      if (!first_.exchange(false)) return;
      const SteadyTime deadline = SteadyNow() + std::chrono::seconds(20);
      while (loop_.load()->pushes_in_flight() < awaited_ && SteadyNow() < deadline) {
        std::this_thread::yield();
      }
    };
    auto client = PsClient::Create(SampleVariables(), kShards, network_, std::move(options));
    ASSERT_TRUE(client.ok()) << client.status().ToString();
    client_ = std::move(client).value();
  }
  ClosureOutcome SucceedTogether(int call) {
    if (call < static_cast<int>(kClosures)) together_.arrive_and_wait();
    return Succeed();
  }

  std::barrier<> together_{kClosures};
  std::atomic<bool> first_ = true;
  /// Pushes that the first one waits for, itself among them.
  std::size_t awaited_ = kClosures;
};

TEST_F(ClosureLoopTogetherTest, WhenSeveralEndTogether_TheyShareAMessage) {
  FakeRunner runner([this](int call, ClosureReads&) { return SucceedTogether(call); });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, static_cast<int>(kClosures));
  EXPECT_EQ(reports().size(), kClosures);
  EXPECT_LE(ps_[0].handler.stats().requests, 2U);
  EXPECT_LE(ps_[1].handler.stats().requests, 2U);
  ExpectApplied(kClosures);
}

// One thread: what reads nothing runs on while pushes are under way; what reads, reads what was
// pushed before it.
TEST_F(ClosureLoopTogetherTest, WithOneThread_OnlyWhatReadsWaitsForThePushesBefore) {
  threads_ = 1;
  FakeRunner runner([](int call, ClosureReads& reads) {
    if (call < static_cast<int>(kClosures) - 1) return Succeed();
    const auto read = reads.Read({{kDense}, {}});
    EXPECT_TRUE(read.ok()) << read.status().ToString();
    const StepAccess plan = SamplePlan({1, 2, 3, 500});
    const StepValues expected = Expected(SampleGradients(plan), kClosures - 1);
    if (read.ok()) {
      EXPECT_EQ(read->dense, expected.dense);
    }
    return Succeed();
  });
  first_ = false;
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(reports().size(), kClosures);
  ExpectApplied(kClosures);
}

TEST_F(ClosureLoopTogetherTest, WithOneThread_ThoseThatReadNothingShareMessages) {
  threads_ = 1;
  FakeRunner runner([](int, ClosureReads&) { return Succeed(); });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_LE(ps_[0].handler.stats().requests, 2U);
  ExpectApplied(kClosures);
}

// The last one waits for a closure that the test pushes once it is reported early.
TEST_F(ClosureLoopTogetherTest, WhenOneOfThemIsEarly_TheOthersAreAppliedAndItIsRunAgain) {
  const WorkId early{0, kClosures};
  closures_[early] = {0, 1};
  FakeRunner runner([this](int call, ClosureReads&) { return SucceedTogether(call); });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, static_cast<int>(kClosures) + 1);
  EXPECT_EQ(reports().size(), kClosures + 1);
  int given_back = 0;
  for (const Report& report : reports()) {
    if (report.early().count() == 0) continue;
    ++given_back;
    EXPECT_EQ(FromWire(report.work_id()), early);
    EXPECT_EQ(report.shards().count(), 0U);
    EXPECT_EQ(report.result(), Succeed().result) << "another shard might have had it";
  }
  EXPECT_EQ(given_back, 1);
  ExpectApplied(kClosures + 1);  // and the test's
}

TEST_F(ClosureLoopTogetherTest, WhenOneOfThemFails_TheOthersAreAppliedAndItIsLeftOut) {
  awaited_ = kClosures - 1;
  FakeRunner runner([this](int call, ClosureReads&) {
    ClosureOutcome outcome = SucceedTogether(call);
    if (call != 3) return outcome;
    // It is pushed by itself, and the others do not wait for it: it is not the first.
    const SteadyTime deadline = SteadyNow() + std::chrono::seconds(20);
    while (first_ && SteadyNow() < deadline) std::this_thread::yield();
    return Fail("no luck");
  });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(reports().size(), kClosures);
  ExpectApplied(kClosures - 1);
}

}  // namespace
}  // namespace pstrain
