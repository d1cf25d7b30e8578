#include "library/coordinator/closure_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/manual_clock.h"
#include "base/os/files.h"
#include "runtime/chief/chief.h"
#include "runtime/requests/work_kind.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

SteadyTime Soon() { return SteadyNow() + std::chrono::seconds(60); }

/// A queue with a chief that has no peers: the test says what workers report.
class ClosureQueueTest : public testing::Test {
 protected:
  ClosureQueueTest() {
    Strategy* strategy = settings_.spec.mutable_strategy();
    strategy->set_shards(1);
    strategy->mutable_variable_partitioner()->mutable_fixed_shards()->set_num_shards(1);
    settings_.spec.mutable_replica_specs()->mutable_ps()->set_replicas(1);
    settings_.checkpoint_directory = dir_.path();
    settings_.peer_timeout = std::chrono::seconds(100);
  }
  ~ClosureQueueTest() override { queue_.Serving(nullptr); }

  void Serve() {
    ChiefJob job;
    job.open_work = [this](const ChiefJob::Place&) -> Result<ChiefJob::Work> {
      queue_.Describe(&work_);
      return work_;
    };
    auto setup = PrepareChief(context_, job);
    ASSERT_TRUE(setup.ok()) << setup.status().ToString();
    chief_ = std::make_unique<Chief>(
        context_, *std::move(setup),
        ChiefOptions{.clock = clock_,
                     .connect = [](const std::string&,
                                   const RunLocked&) { return std::unique_ptr<PsLink>(); },
                     .refusals = refusals_,
                     .grant_limit = nullptr,
                     .wanted_ps = nullptr});
    queue_.Serving(chief_.get());
  }
  ClosureQueue::Scheduled Schedule(const std::string& payload = "call") {
    const auto scheduled = queue_.Schedule(payload);
    EXPECT_TRUE(scheduled.ok()) << scheduled.status().ToString();
    return scheduled.ok() ? *scheduled : ClosureQueue::Scheduled();
  }
  /// `committed`: the report has made it so.
  void Commit(ClosureQueue::Id id, const Report& report, bool committed = true) {
    chief_->ChangeWork([&](const CommitProtocol& protocol) {
      work_.reported({0, static_cast<std::uint32_t>(id)}, report, committed, protocol);
    });
  }
  void Succeed(ClosureQueue::Id id, const std::string& result = {}) {
    Report report;
    report.set_result(result);
    Commit(id, report);
  }
  void Fail(ClosureQueue::Id id, StatusCode code, const std::string& message) {
    Report report;
    report.mutable_error()->set_code(static_cast<std::uint32_t>(code));
    report.mutable_error()->set_message(message);
    Commit(id, report);
  }
  /// Of what the chief would grant for it.
  std::uint32_t KindOf(ClosureQueue::Id id) const {
    return work_.source->ContentOf({0, static_cast<std::uint32_t>(id)}).kind;
  }
  static Status Now(const ClosureQueue::Scheduled& scheduled) {
    return scheduled.state->Wait(SteadyNow()).status();
  }

  TempDir dir_;
  ManualClock clock_;
  JobSettings settings_;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  Refusals refusals_{*stats_};
  RoleContext context_{
      .job = settings_, .run_id = "run", .stats = *stats_, .fail_points = FailPoints::None()};
  ClosureQueue queue_{{.payload = 100, .kept = 1000}};
  ChiefJob::Work work_;
  std::unique_ptr<Chief> chief_;
};

TEST_F(ClosureQueueTest, WhenCommitted_ACallHasItsOutcomeAndKeepsIt) {
  Serve();
  const auto scheduled = Schedule();
  EXPECT_EQ(Now(scheduled).code(), StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(*queue_.Done());
  EXPECT_EQ(queue_.Join(SteadyNow()).code(), StatusCode::kDeadlineExceeded);
  Succeed(0, "first");
  Succeed(0, "of a worker that did it again for a ps that was lost");
  EXPECT_EQ(*scheduled.state->Wait(SteadyNow()), "first");
  EXPECT_EQ(queue_.Join(SteadyNow()), OkStatus());
  EXPECT_TRUE(*queue_.Done());
  EXPECT_EQ(queue_.succeeded(), 1U);
}

// Its shards may come from a checkpoint without it: who is granted it then is not to run it.
TEST_F(ClosureQueueTest, WhenACallHasFailed_NobodyRunsItAgain) {
  Serve();
  const auto failed = Schedule();
  const auto voided = Schedule();
  const auto good = queue_.Schedule("assign", {.place = CallOptions::Place::kOwnPhase});
  ASSERT_TRUE(good.ok());
  Report error;
  error.mutable_error()->set_code(static_cast<std::uint32_t>(StatusCode::kInternal));
  Commit(failed.id, error, false);
  EXPECT_EQ(KindOf(failed.id), kClosureWork) << "the error is nobody's yet: it may still succeed";
  Fail(failed.id, StatusCode::kInternal, "no");
  Fail(voided.id, StatusCode::kCancelled, "voided");
  Succeed(good->id);
  EXPECT_EQ(KindOf(failed.id), kVoidWork);
  EXPECT_EQ(KindOf(voided.id), kVoidWork);
  EXPECT_EQ(KindOf(good->id), kClosureWork) << "what has succeeded is done again";
}

// A shard moved while the first was reported.
TEST_F(ClosureQueueTest, WhenAnAttemptIsReportedBeforeTheLast_ItsResultCounts) {
  Serve();
  const auto scheduled = Schedule();
  const auto failing = Schedule();
  Report first;
  // It was early when it read, so that its function did not come to its end.
  Commit(0, first, false);
  first.mutable_shards()->set_count(1);
  first.set_result("of the attempt that the shards have");
  Commit(0, first, false);
  EXPECT_EQ(Now(scheduled).code(), StatusCode::kDeadlineExceeded);
  Succeed(0, "of a later attempt");
  EXPECT_EQ(*scheduled.state->Wait(SteadyNow()), "of the attempt that the shards have");
  Report error;
  error.mutable_error()->set_code(static_cast<std::uint32_t>(StatusCode::kNotFound));
  Commit(1, error, false);
  Succeed(1, "no shard had what failed");
  EXPECT_EQ(*failing.state->Wait(SteadyNow()), "no shard had what failed");
  EXPECT_EQ(queue_.Join(SteadyNow()), OkStatus());
}

TEST_F(ClosureQueueTest, WhenOneFails_WhatNobodyHasIsVoidedButNoAssign) {
  Serve();
  const auto bad = Schedule();
  const auto rest = Schedule();
  const auto assign = queue_.Schedule("assign", {.place = CallOptions::Place::kOwnPhase});
  ASSERT_TRUE(assign.ok());
  Fail(bad.id, StatusCode::kOutOfRange, "no");
  EXPECT_EQ(KindOf(rest.id), kVoidWork);
  EXPECT_EQ(KindOf(assign->id), kClosureWork);
  EXPECT_EQ(Now(rest).code(), StatusCode::kDeadlineExceeded) << "not before all shards know it";
  Fail(rest.id, StatusCode::kCancelled, "voided");
  Succeed(assign->id);
  EXPECT_EQ(Now(rest).code(), StatusCode::kCancelled);
  EXPECT_EQ(Now(*assign), OkStatus());
  EXPECT_EQ(queue_.Join(SteadyNow()), OutOfRangeError("no")) << "what was voided is no error";
  EXPECT_EQ(queue_.Join(SteadyNow()), OkStatus()) << "it is said once";
  EXPECT_EQ(queue_.succeeded(), 1U);
}

TEST_F(ClosureQueueTest, WhenAVoidedOneRanAllTheSame_ItHasItsResult) {
  Serve();
  const auto bad = Schedule();
  const auto rest = Schedule();
  Fail(bad.id, StatusCode::kInternal, "no");
  Succeed(rest.id, "a shard had it");
  EXPECT_EQ(*rest.state->Wait(SteadyNow()), "a shard had it");
}

TEST_F(ClosureQueueTest, WhenOthersFailToo_OneErrorHasTheirCount) {
  Serve();
  std::vector<ClosureQueue::Scheduled> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(queue_.Schedule("call", {.place = CallOptions::Place::kOwnPhase}).value());
  Fail(0, StatusCode::kInternal, "first");
  Fail(1, StatusCode::kNotFound, "second");
  Fail(2, static_cast<StatusCode>(99), "of no code");
  EXPECT_FALSE(*queue_.Done()) << "not all is done";
  EXPECT_EQ(queue_.Schedule("call").status(), InternalError("first (2 others failed too)"));
  Fail(3, StatusCode::kNotFound, "scheduled before that was said");
  EXPECT_TRUE(*queue_.Done());
  EXPECT_EQ(Now(all[2]).code(), StatusCode::kUnknown);
  EXPECT_EQ(Now(all[3]).code(), StatusCode::kNotFound);
  const auto next = Schedule();
  EXPECT_EQ(next.id, 4U);
  Fail(next.id, StatusCode::kAborted, "again");
  EXPECT_EQ(queue_.Done().status(), AbortedError("again"));
}

TEST_F(ClosureQueueTest, WhenPhasesEnd_WorkWaitsForWhatIsBefore) {
  Serve();
  const auto after = [this](ClosureQueue::Id id) {
    return work_.source->After({0, static_cast<std::uint32_t>(id)}).batch;
  };
  Schedule();
  Schedule();
  EXPECT_EQ(queue_.Join(SteadyNow()).code(), StatusCode::kDeadlineExceeded);
  Schedule();
  ASSERT_TRUE(queue_.Schedule("assign", {.place = CallOptions::Place::kOwnPhase}).ok());
  Schedule();
  EXPECT_EQ(after(1), 0U);
  EXPECT_EQ(after(2), 2U);
  EXPECT_EQ(after(3), 3U);
  EXPECT_EQ(after(4), 4U);
}

TEST_F(ClosureQueueTest, WhenACallCannotBeTaken_NothingIsAdded) {
  EXPECT_EQ(queue_.Schedule("call").status().code(), StatusCode::kUnavailable);
  Serve();
  EXPECT_EQ(queue_.Schedule(std::string(101, 'x')).status().code(), StatusCode::kResourceExhausted);
  Status other;
  std::thread([&] { other = queue_.Schedule("call").status(); }).join();
  EXPECT_EQ(other.code(), StatusCode::kFailedPrecondition) << "this thread was the first";
  EXPECT_EQ(work_.source->work_ids(), 0U);
  EXPECT_EQ(queue_.Close(), OkStatus());
  EXPECT_TRUE(work_.source->closed());
  EXPECT_EQ(queue_.Schedule("call").status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(ClosureQueueTest, WhenAllArgumentsAreTooMany_ItSaysSo) {
  Serve();
  Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) {
    status = queue_.Schedule(std::string(90, 'x') + std::to_string(i)).status();
  }
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(work_.source->work_ids(), 10U);
}

TEST_F(ClosureQueueTest, WhenTheRunEnds_EverybodyHearsWhy) {
  Serve();
  const auto scheduled = Schedule();
  auto joins = std::async(std::launch::async, [this] { return queue_.Join(Soon()); });
  EXPECT_EQ(queue_.WaitUntilServing(SteadyNow()), OkStatus());
  queue_.Serving(nullptr);
  queue_.Ended(UnavailableError("gone"));
  queue_.Ended(UnavailableError("again"));
  const Status joined = joins.get();
  EXPECT_EQ(joined.code(), StatusCode::kUnavailable) << joined.ToString();
  EXPECT_EQ(Now(scheduled), UnavailableError("gone"));
  EXPECT_EQ(queue_.Schedule("call").status(), UnavailableError("gone"));
  EXPECT_EQ(queue_.Done().status(), UnavailableError("gone"));
  EXPECT_EQ(queue_.WaitUntilServing(SteadyNow()), UnavailableError("gone"));
}

}  // namespace
}  // namespace pstrain
