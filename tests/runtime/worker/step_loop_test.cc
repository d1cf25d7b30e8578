#include "runtime/worker/step_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/rpc/control_shards.h"
#include "tests/runtime/worker/test_chief.h"
#include "tests/runtime/worker/two_ps_test.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;

constexpr WorkId kWorkId{0, 0};
constexpr std::uint32_t kRecords = 2;

/// SampleGradients of the same rows for all work; the loss of some steps is not a number.
class SampleStep final : public WorkerStep {
 public:
  /// Of the first `broken` steps. `between`: called in each step, after its pull and before its
  /// push.
  explicit SampleStep(
      int broken, std::function<void()> between = [] {})
      : broken_(static_cast<std::size_t>(broken), true), between_(std::move(between)) {}
  /// Of the steps that are named so.
  explicit SampleStep(std::vector<bool> broken) : broken_(std::move(broken)), between_([] {}) {}

  Result<PreparedWork> Prepare(WorkId) override {
    return PreparedWork{SamplePlan({1, 2, 3, 500}), kRecords, 0, nullptr};
  }
  StepOutcome Compute(const PreparedWork& work, StepValues&) override {
    between_();
    const auto number = static_cast<std::size_t>(steps_++);
    const bool broken = number < broken_.size() && broken_[number];
    return {broken ? std::numeric_limits<double>::quiet_NaN() : 0.5, SampleGradients(work.access)};
  }
  std::string Describe(WorkId work_id) const override {
    return "batch " + std::to_string(work_id.batch);
  }
  int steps() const { return steps_; }

 private:
  const std::vector<bool> broken_;
  const std::function<void()> between_;
  std::atomic<int> steps_{0};
};

/// The test's client has all variables.
Status KnowsAll(const RunDescription&) { return OkStatus(); }

/// A worker's step loop between two ps and a chief of the test, which grants one piece of work
/// whenever it is not in flight, and ends the job with its report or the worker's failure.
class StepLoopTest : public TwoPsTest {
 protected:
  StepLoopTest() : chief_([this](const auto& poll, auto* reply) { Answer(poll, reply); }) {
    settings_.peer_timeout = std::chrono::seconds(30);
  }

  virtual void Answer(const PollWorkerRequest& poll, PollWorkerReply* reply) {
    reply->mutable_run()->set_run_id("run");
    *reply->mutable_membership() = SampleMembership(kAddresses);
    if (poll.reports_size() > 0 || !poll.failure().empty()) {
      reply->set_directive(FINISH);
    } else if (poll.in_flight_size() == 0) {
      AddGrant(kWorkId, reply);
    }
  }

  /// As a worker that pushed the batch's gradient to the shards of ps 0 and was gone then.
  void PushToTheFirstPs() {
    const StepAccess plan = SamplePlan({1, 2, 3, 500});
    const ShardId of_ps_0[] = {0, 2};
    const auto pushed = client_->Push({kWorkId, kRecords, 0}, client_->Route(plan).value(),
                                      SampleGradients(plan), SampleMembership(kAddresses), of_ps_0);
    ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  }

  RoleContext Context() {
    return {.job = settings_,
            .run_id = "run",
            .chief_address = chief_.address(),
            .stats = *stats_,
            .fail_points = FailPoints::None()};
  }

  Status Run(WorkerStep& step) {
    const RoleContext context = Context();
    GrantSession session(context, problems_);
    PSTRAIN_RETURN_IF_ERROR(session.Start().status());
    WorkerStats stats(*stats_);
    const FiniteCheck check(SampleVariables(), kShards);
    WorkPrefetcher work(session, step, *client_, KnowsAll, stats.input_seconds, nullptr);
    Status status = StepLoop(context, session, work, *client_, step, check, stats, true).Run();
    step_error_ = work.step_error();
    session.GiveBackAll();
    session.WaitForEnd(std::chrono::seconds(30));
    return status;
  }

  StepValues Values() {
    const RoutedPlan routed = client_->Route(SamplePlan({1, 2, 3, 500})).value();
    const auto pulled = client_->Pull(routed, SampleMembership(kAddresses));
    EXPECT_TRUE(pulled.ok()) << pulled.status().ToString();
    return pulled.ok() ? pulled->values : StepValues{};
  }

  JobSettings settings_;
  /// Of the prefetcher, once Run has returned.
  Status step_error_;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  const RealClock clock_;
  PsProblems problems_{clock_};
  TestChief chief_;
};

/// Whose input lies on a disk that hangs until Release.
class HangingStep final : public WorkerStep {
 public:
  Result<PreparedWork> Prepare(WorkId) override {
    hangs_.set_value();
    released_.get_future().wait();
    return UnavailableError("too late");
  }
  StepOutcome Compute(const PreparedWork&, StepValues&) override { return {}; }
  std::string Describe(WorkId work_id) const override {
    return "batch " + std::to_string(work_id.batch);
  }
  void WaitUntilItHangs() { hangs_.get_future().wait(); }
  void Release() { released_.set_value(); }

 private:
  std::promise<void> hangs_;
  std::promise<void> released_;
};

/// The job is at its end while the worker reads what it was granted.
class HangingReadTest : public StepLoopTest {
 protected:
  void Answer(const PollWorkerRequest& poll, PollWorkerReply* reply) override {
    StepLoopTest::Answer(poll, reply);
    if (over_) reply->set_directive(FINISH);
  }
  std::atomic<bool> over_{false};
};

TEST_F(HangingReadTest, WhenTheSessionEnds_WhatIsBeingReadIsNotWaitedFor) {
  const RoleContext context = Context();
  GrantSession session(context, problems_);
  ASSERT_TRUE(session.Start().ok());
  HangingStep step;
  WorkerStats stats(*stats_);
  WorkPrefetcher work(session, step, *client_, KnowsAll, stats.input_seconds, nullptr);
  step.WaitUntilItHangs();
  auto next = std::async(std::launch::async, [&work] { return work.Next(); });
  over_ = true;
  const bool returns = next.wait_for(std::chrono::seconds(60)) == std::future_status::ready;
  EXPECT_TRUE(returns);
  step.Release();
  const Result<std::optional<ReadyWork>> got = next.get();
  if (returns) {
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    EXPECT_FALSE(got->has_value());
  }
}

TEST_F(StepLoopTest, WhenNoShardHasTheGradient_TheBatchIsLeftOutByAll) {
  SampleStep step(1);
  const Status ran = Run(step);
  EXPECT_TRUE(ran.ok()) << ran.ToString();
  EXPECT_EQ(step.steps(), 1);
  const StepValues zeros = Expected(SampleGradients(SamplePlan({1, 2, 3, 500})), 0);
  EXPECT_EQ(Values().dense, zeros.dense);
  EXPECT_EQ(Values().rows, zeros.rows);
}

TEST_F(StepLoopTest, WhenAShardHasTheGradient_TheBatchIsGivenBackAndComputedAgain) {
  PushToTheFirstPs();
  SampleStep step(1);
  const Status ran = Run(step);
  EXPECT_TRUE(ran.ok()) << ran.ToString();
  EXPECT_EQ(step.steps(), 2);
  const StepValues once = Expected(SampleGradients(SamplePlan({1, 2, 3, 500})), 1);
  EXPECT_EQ(Values().dense, once.dense) << "the shards of ps 0 have it from the first worker";
  EXPECT_EQ(Values().rows, once.rows);
  std::size_t reported = 0;
  for (const PollWorkerRequest& poll : chief_.polls()) {
    for (const Report& report : poll.reports()) {
      ++reported;
      EXPECT_EQ(report.shards().count(), kShards);
      EXPECT_EQ(report.loss(), 0.5);
    }
  }
  EXPECT_EQ(reported, 1U);
}

TEST_F(StepLoopTest, WhenItsLossIsAgainNotFinite_TheJobFails) {
  PushToTheFirstPs();
  SampleStep step(1000);
  const Status ran = Run(step);
  EXPECT_EQ(ran.code(), StatusCode::kOutOfRange) << ran.ToString();
  EXPECT_EQ(step.steps(), 2);
  EXPECT_THAT(ran.message(), HasSubstr("some shards have its gradient"));
  EXPECT_EQ(chief_.polls().back().failure(), ran.message());
  for (const PollWorkerRequest& poll : chief_.polls()) EXPECT_EQ(poll.reports_size(), 0);
}

/// The chief grants the work once more when it is done, as for a ps that has lost it.
class StepLoopTwiceTest : public StepLoopTest {
 protected:
  void Answer(const PollWorkerRequest& poll, PollWorkerReply* reply) override {
    reports_ += poll.reports_size();
    StepLoopTest::Answer(poll, reply);
    if (reports_ >= 2 || !poll.failure().empty()) return;
    reply->set_directive(CONTINUE);
    if (poll.in_flight_size() == 0 && reply->grants_size() == 0) AddGrant(kWorkId, reply);
  }

  std::atomic<int> reports_{0};
};

// Each time its first computation is not finite, and its second one is.
TEST_F(StepLoopTwiceTest, WhenWorkThatWasGivenBackIsDone_TheNextTimeIsAFirstTime) {
  PushToTheFirstPs();
  SampleStep step({true, false, true, false});
  const Status ran = Run(step);
  EXPECT_TRUE(ran.ok()) << ran.ToString();
  EXPECT_EQ(step.steps(), 4);
}

/// Its work cannot be prepared, or reads a variable that no ps has.
class UnfitStep final : public WorkerStep {
 public:
  explicit UnfitStep(Status error) : error_(std::move(error)) {}

  Result<PreparedWork> Prepare(WorkId) override {
    if (!error_.ok()) return error_;
    PreparedWork work;
    work.access.dense = {77};
    return work;
  }
  StepOutcome Compute(const PreparedWork&, StepValues&) override { return {}; }
  std::string Describe(WorkId) const override { return "work"; }

 private:
  const Status error_;
};

/// The chief ends the job once the work is given back.
class StepLoopPrepareTest : public StepLoopTest {
 protected:
  void Answer(const PollWorkerRequest& poll, PollWorkerReply* reply) override {
    StepLoopTest::Answer(poll, reply);
    if (reply->grants_size() == 0 || !granted_.exchange(true)) return;
    reply->clear_grants();
    reply->set_directive(FINISH);
  }

  std::atomic<bool> granted_{false};
};

// Whoever runs the loop tells bad input by it: the codes of a ps mean other things.
TEST_F(StepLoopPrepareTest, WhenTheStepCannotPrepare_ItsErrorIsKnownToBeTheSteps) {
  const Status bad = InvalidArgumentError("data.csv:3: no");
  UnfitStep step(bad);
  EXPECT_EQ(Run(step), bad);
  EXPECT_EQ(step_error_, bad);
}

TEST_F(StepLoopPrepareTest, WhenWhatTheStepReadsHasNoPlace_TheErrorIsNotTheSteps) {
  UnfitStep step(OkStatus());
  EXPECT_EQ(Run(step).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(step_error_, OkStatus());
}

/// The chief grants the second batch, which waits for the first, whenever it is not in flight, and
/// ends the job with the report of all shards.
class StepLoopPhaseTest : public StepLoopTest {
 protected:
  void Answer(const PollWorkerRequest& poll, PollWorkerReply* reply) override {
    reply->mutable_run()->set_run_id("run");
    const MutexLock lock(mutex_);
    *reply->mutable_membership() = membership_;
    reply->set_chief_term(chief_term_);
    if (!poll.failure().empty()) return reply->set_directive(FINISH);
    for (const Report& report : poll.reports()) {
      reports_.push_back(report);
      if (report.shards().count() == kShards) return reply->set_directive(FINISH);
      PushTheFirst(membership_);
    }
    if (poll.in_flight_size() > 0) return;
    AddGrant(kSecond, reply);
    Grant* const grant = reply->mutable_grants(0);
    ToWire(kSecond, grant->mutable_after());
    grant->set_chief_term(grants_++ == 0 ? first_grants_term_ : 0);
  }

  void PushTheFirst(const Membership& membership) {
    const StepAccess plan = SamplePlan({1, 2, 3, 500});
    const auto pushed = client_->Push({kWorkId, kRecords, 0}, client_->Route(plan).value(),
                                      SampleGradients(plan), membership);
    EXPECT_TRUE(pushed.ok()) << pushed.status().ToString();
  }

  /// The second ps comes again without a checkpoint: its shards have nothing.
  void LoseTheSecondPs() {
    const MutexLock lock(mutex_);
    membership_.set_number(2);
    for (const int shard : {1, 3}) {
      membership_.mutable_shards(shard)->mutable_term()->set_counter(kSampleTerm.counter + 1);
    }
    EXPECT_TRUE(ps_[1].Own({1, 3}, {1, kSampleTerm.counter + 1}).ok());
  }

  StepValues ValuesNow() {
    const RoutedPlan routed = client_->Route(SamplePlan({1, 2, 3, 500})).value();
    const MutexLock lock(mutex_);
    const auto pulled = client_->Pull(routed, membership_);
    EXPECT_TRUE(pulled.ok()) << pulled.status().ToString();
    return pulled.ok() ? pulled->values : StepValues{};
  }

  static constexpr WorkId kSecond{0, 1};
  Mutex mutex_;
  Membership membership_ PSTRAIN_GUARDED_BY(mutex_) = SampleMembership(kAddresses);
  std::vector<Report> reports_ PSTRAIN_GUARDED_BY(mutex_);
  std::uint64_t chief_term_ PSTRAIN_GUARDED_BY(mutex_) = 1;
  std::uint64_t first_grants_term_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  int grants_ PSTRAIN_GUARDED_BY(mutex_) = 0;
};

TEST_F(StepLoopPhaseTest, WhenAShardIsEarlyForAPull_TheChiefHearsItAndNothingIsComputed) {
  SampleStep step(0);
  const Status ran = Run(step);
  EXPECT_TRUE(ran.ok()) << ran.ToString();
  EXPECT_EQ(step.steps(), 1) << "once the shards have the first batch";
  const StepValues twice = Expected(SampleGradients(SamplePlan({1, 2, 3, 500})), 2);
  EXPECT_EQ(ValuesNow().dense, twice.dense);
  EXPECT_EQ(ValuesNow().rows, twice.rows);
  const MutexLock lock(mutex_);
  ASSERT_EQ(reports_.size(), 2U);
  EXPECT_EQ(reports_[0].shards().count(), 0U);
  EXPECT_EQ(reports_[0].early().count(), 1U);
  EXPECT_EQ(reports_[0].membership(), membership_.number());
  EXPECT_EQ(reports_[1].early().count(), 0U);
}

TEST_F(StepLoopPhaseTest, WhenAShardIsEarlyForAPush_TheReportHasThoseThatTookItToo) {
  PushTheFirst(SampleMembership(kAddresses));
  bool lost = false;
  SampleStep step(0, [&] {
    if (!std::exchange(lost, true)) LoseTheSecondPs();
  });
  const Status ran = Run(step);
  EXPECT_TRUE(ran.ok()) << ran.ToString();
  EXPECT_EQ(step.steps(), 2);
  const StepValues twice = Expected(SampleGradients(SamplePlan({1, 2, 3, 500})), 2);
  EXPECT_EQ(ValuesNow().dense, twice.dense);
  EXPECT_EQ(ValuesNow().rows, twice.rows);
  const MutexLock lock(mutex_);
  ASSERT_EQ(reports_.size(), 2U);
  EXPECT_EQ(reports_[0].membership(), 2U) << "in whose terms the second ps was early";
  const ShardSet have = FromWire(reports_[0].shards(), kShards);
  EXPECT_EQ(have.count(), 2U);
  EXPECT_TRUE(have.Contains(0) && have.Contains(2));
  const ShardSet early = FromWire(reports_[0].early(), kShards);
  EXPECT_EQ(early.count(), 2U);
  EXPECT_TRUE(early.Contains(1) && early.Contains(3));
}

TEST_F(StepLoopPhaseTest, WhenTheShardsAreAnotherChiefs_TheWorkIsGivenBackUnreported) {
  PushTheFirst(SampleMembership(kAddresses));
  {
    const MutexLock lock(mutex_);
    chief_term_ = 2;
    first_grants_term_ = 2;
  }
  SampleStep step(0);
  const Status ran = Run(step);
  EXPECT_TRUE(ran.ok()) << ran.ToString();
  EXPECT_EQ(step.steps(), 1);
  const MutexLock lock(mutex_);
  EXPECT_EQ(grants_, 2);
  EXPECT_EQ(reports_.size(), 1U);
}

}  // namespace
}  // namespace pstrain
