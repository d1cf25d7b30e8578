#include "library/coordinator/closure_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/requests/work_kind.h"
#include "tests/library/coordinator/queue_fixture.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

SteadyTime Soon() { return SteadyNow() + std::chrono::seconds(60); }

class ClosureQueueTest : public QueueFixture {
 protected:
  ClosureQueueTest() : QueueFixture({.payload = 100, .kept = 1000}) {}

  /// As a worker that is there gets them.
  std::vector<std::uint32_t> NextOf(std::uint32_t worker) {
    std::vector<std::uint32_t> numbers;
    chief_->ChangeWork([&](const CommitProtocol&) {
      for (std::uint32_t index = 0; index < 2; ++index) work_.source->SetRegistered(index, true);
      while (const auto next = work_.source->Next(worker, [](std::uint32_t) { return false; }))
        numbers.push_back(next->batch);
    });
    return numbers;
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
  /// An attempt for shards that lack what others have: it has come to no shard.
  ChiefJob::Heard FailAttempt(ClosureQueue::Id id, const std::string& message) {
    Report report;
    report.mutable_error()->set_code(static_cast<std::uint32_t>(StatusCode::kInternal));
    report.mutable_error()->set_message(message);
    return Commit(id, report, false);
  }
  /// Of kLostWork, by all shards.
  ChiefJob::Heard GiveUp(ClosureQueue::Id id, std::string_view who_has_it) {
    Report report;
    report.mutable_shards()->set_count(1);
    report.set_result(std::string(who_has_it));
    report.mutable_error()->set_code(static_cast<std::uint32_t>(StatusCode::kCancelled));
    return Commit(id, report);
  }
  static Status Now(const ClosureQueue::Scheduled& scheduled) {
    return scheduled.state->Wait(SteadyNow()).status();
  }
};

TEST_F(ClosureQueueTest, AWorkerAndAPriority_SayWhoGetsACallAndWhen) {
  Serve();
  Schedule();
  for (const ScheduleOptions& options :
       {ScheduleOptions{.worker = 1}, ScheduleOptions{.priority = -1},
        ScheduleOptions{.worker = 0, .priority = 2}, ScheduleOptions{.priority = 1}}) {
    ASSERT_TRUE(queue_.Schedule("call", {.function = {}, .schedule = options}).ok());
  }
  EXPECT_EQ(NextOf(0), (std::vector<std::uint32_t>{3, 4, 0, 2}));
  EXPECT_EQ(NextOf(1), (std::vector<std::uint32_t>{1}));
}

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
  EXPECT_EQ(KindOf(good->id), kRepairWork) << "what has succeeded is done again";
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

TEST_F(ClosureQueueTest, WithABudget_ErrorsAreOfTheirCallsAloneUntilOneGoesBeyond) {
  Serve();
  ASSERT_EQ(queue_.SetOptions({.errors = Budget{2}}), OkStatus());
  std::vector<ClosureQueue::Scheduled> all;
  for (int i = 0; i < 6; ++i) all.push_back(Schedule());
  Fail(0, StatusCode::kInternal, "first");
  Fail(1, StatusCode::kNotFound, "second");
  EXPECT_EQ(KindOf(5), kClosureWork) << "nothing is voided";
  EXPECT_EQ(Now(all[1]), NotFoundError("second"));
  EXPECT_EQ(queue_.failed(), 2U);
  EXPECT_EQ(queue_.Schedule("call").status(), OkStatus());
  Fail(2, StatusCode::kOutOfRange, "third");
  EXPECT_EQ(KindOf(5), kVoidWork);
  for (ClosureQueue::Id id = 3; id < 7; ++id) Fail(id, StatusCode::kCancelled, "voided");
  EXPECT_EQ(queue_.Join(Soon()),
            OutOfRangeError("third (3 calls have failed so far, and the budget is 2)"));
  EXPECT_EQ(queue_.failed(), 3U) << "what was voided has not failed";
  const auto next = Schedule();
  const auto beside = queue_.Schedule("call", {.place = CallOptions::Place::kOwnPhase});
  Fail(next.id, StatusCode::kAborted, "fourth");
  Fail(beside->id, StatusCode::kAborted, "fifth");
  EXPECT_EQ(queue_.Join(Soon()),
            AbortedError(
                "fourth (1 others failed too; 5 calls have failed so far, and the budget is 2)"));
  EXPECT_EQ(queue_.Join(Soon()), OkStatus());
}

TEST_F(ClosureQueueTest, WhenItsOptionsAreGivenAgain_TheyHaveToBeTheSame) {
  EXPECT_EQ(queue_.SetOptions({.errors = Budget{2}}), OkStatus());
  EXPECT_EQ(queue_.SetOptions({.errors = Budget{2}}), OkStatus());
  const Status other = queue_.SetOptions({.errors = Budget{3}});
  EXPECT_EQ(other.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(other.message(), HasSubstr("= Budget{2} and cancel_timeout = 60000 ms, and is "
                                         "asked for one with Budget{3} and cancel_timeout"));
  EXPECT_THAT(queue_.SetOptions({}).message(), HasSubstr("with FailFast{}"));
}

TEST_F(ClosureQueueTest, WhenTheRunReturnsToAMark_FailedAndLostCallsAreThoseOfTheMark) {
  Serve();
  ProgramMark mark;
  mark.set_failed(2);
  mark.set_lost(3);
  work_.returned(mark);
  ASSERT_EQ(queue_.SetOptions({.errors = Budget{2}}), OkStatus());
  EXPECT_EQ(queue_.failed(), 2U);
  EXPECT_EQ(queue_.lost(), 3U);
  ASSERT_EQ(queue_.Begin(), OkStatus());
  Schedule();
  Fail(0, StatusCode::kInternal, "beyond");
  EXPECT_EQ(queue_.Join(Soon()).code(), StatusCode::kInternal) << "the budget is that of the run";
  EXPECT_EQ(queue_.failed(), 3U);
}

// A ps was lost, its shards lack the call.
TEST_F(ClosureQueueTest, WhenWhatHasSucceededFailsAgain_ItIsGivenUpAndNoError) {
  Serve();
  const auto good = Schedule();
  const auto other = Schedule();
  Succeed(good.id, "good");
  for (int attempt = 1; attempt <= 3; ++attempt) {
    EXPECT_EQ(KindOf(good.id), kRepairWork) << attempt;
    EXPECT_FALSE(FailAttempt(good.id, "no file").update_lost);
  }
  EXPECT_EQ(KindOf(good.id), kLostWork);
  EXPECT_EQ(KindOf(other.id), kClosureWork) << "nothing is voided";
  EXPECT_EQ(queue_.lost(), 0U) << "not before a shard has left it out";
  EXPECT_TRUE(GiveUp(good.id, kSomeShardsHaveIt).update_lost);
  EXPECT_EQ(queue_.lost(), 1U);
  Succeed(other.id);
  EXPECT_EQ(queue_.Join(Soon()), OkStatus());
  EXPECT_EQ(*good.state->Wait(SteadyNow()), "good");
  EXPECT_EQ(queue_.failed(), 0U);
  EXPECT_EQ(queue_.succeeded(), 2U);
  // Another ps is lost.
  EXPECT_EQ(KindOf(good.id), kLostWork) << "nobody runs it again";
  EXPECT_FALSE(GiveUp(good.id, kNoShardHasIt).update_lost) << "it counts once";
  EXPECT_EQ(queue_.lost(), 1U);
}

TEST_F(ClosureQueueTest, WhenARepairSucceedsInTime_NothingIsLost) {
  Serve();
  Schedule();
  Succeed(0);
  for (int loss = 0; loss < 2; ++loss) {
    FailAttempt(0, "once");
    FailAttempt(0, "twice");
    Succeed(0);
    EXPECT_EQ(KindOf(0), kRepairWork);
  }
  EXPECT_EQ(queue_.lost(), 0U);
}

// It comes from a shard of which it was not known that it had it.
TEST_F(ClosureQueueTest, WhenAllShardsHaveWhatWasGivenUp_NothingIsLost) {
  Serve();
  Schedule();
  Succeed(0);
  for (int attempt = 1; attempt <= 3; ++attempt) FailAttempt(0, "no");
  EXPECT_FALSE(GiveUp(0, kAllShardsHaveIt).update_lost);
  EXPECT_EQ(queue_.lost(), 0U);
  EXPECT_EQ(KindOf(0), kRepairWork);
}

TEST_F(ClosureQueueTest, WhenARepairFailsAndTheJobWantsThat_TheRunReturnsToItsMark) {
  queue_.SetReturnWhenRepairFails(true);
  Serve();
  Schedule();
  Succeed(0);
  EXPECT_EQ(FailAttempt(0, "no").return_to_mark, "");
  EXPECT_EQ(FailAttempt(0, "no").return_to_mark, "");
  EXPECT_THAT(FailAttempt(0, "no file").return_to_mark,
              testing::AllOf(HasSubstr("closure 0 has failed 3 times"), HasSubstr("no file")));
  EXPECT_EQ(KindOf(0), kRepairWork);
}

// A worker was lost between two ps.
TEST_F(ClosureQueueTest, WhenATornAttemptFailsAgain_ItsErrorSaysThatSomeShardsHaveIt) {
  Serve();
  const auto torn = Schedule();
  const auto rest = Schedule();
  for (int attempt = 1; attempt <= 3; ++attempt) FailAttempt(torn.id, "no");
  EXPECT_EQ(KindOf(torn.id), kLostWork);
  EXPECT_EQ(Now(torn).code(), StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(GiveUp(torn.id, kSomeShardsHaveIt).update_lost);
  const Status error = Now(torn);
  EXPECT_EQ(error.code(), StatusCode::kInternal);
  EXPECT_EQ(error.message(),
            "no (some shards have what an attempt before has changed, the others do not)");
  EXPECT_EQ(KindOf(torn.id), kLostWork) << "those that have it keep it";
  EXPECT_EQ(KindOf(rest.id), kVoidWork) << "as for any error";
  EXPECT_EQ(queue_.lost(), 1U);
  EXPECT_EQ(queue_.failed(), 1U);
}

TEST_F(ClosureQueueTest, WhenATornAttemptIsGivenUp_WhoHasItDecides) {
  Serve();
  const auto none = Schedule();
  const auto all = Schedule();
  const auto known = Schedule();
  Report first;
  first.mutable_shards()->set_count(1);
  first.set_result("of the attempt that the shards have");
  Commit(known.id, first, false);
  for (const ClosureQueue::Id id : {none.id, all.id, known.id})
    for (int attempt = 1; attempt <= 3; ++attempt) FailAttempt(id, "no");
  ASSERT_EQ(queue_.SetOptions({.errors = Budget{9}}), OkStatus());
  EXPECT_FALSE(GiveUp(none.id, kNoShardHasIt).update_lost);
  EXPECT_EQ(Now(none), InternalError("no"));
  EXPECT_EQ(KindOf(none.id), kVoidWork);
  EXPECT_FALSE(GiveUp(all.id, kAllShardsHaveIt).update_lost);
  EXPECT_THAT(Now(all).message(), HasSubstr("what that has returned is not known"));
  EXPECT_EQ(KindOf(all.id), kRepairWork);
  EXPECT_FALSE(GiveUp(known.id, kAllShardsHaveIt).update_lost);
  EXPECT_EQ(*known.state->Wait(SteadyNow()), "of the attempt that the shards have");
  EXPECT_EQ(queue_.failed(), 2U);
  EXPECT_EQ(queue_.lost(), 0U);
}

// A policy voids what nobody has, but a shard has this one, as an attempt has met it.
TEST_F(ClosureQueueTest, WhenATornAttemptHasFailed_ItIsNotVoided) {
  Serve();
  const auto torn = Schedule();
  const auto bad = Schedule();
  FailAttempt(torn.id, "once");
  Fail(bad.id, StatusCode::kNotFound, "no");
  EXPECT_EQ(KindOf(torn.id), kClosureWork);
}

// A shard has what was voided: it ran all the same, and does not succeed.
TEST_F(ClosureQueueTest, WhenAVoidedOneIsGivenUp_ItIsWhatItWasOrCounted) {
  Serve();
  const auto bad = Schedule();
  const auto first = Schedule();
  const auto second = Schedule();
  Fail(bad.id, StatusCode::kNotFound, "no");
  for (const ClosureQueue::Id id : {first.id, second.id})
    for (int attempt = 1; attempt <= 3; ++attempt) FailAttempt(id, "failed");
  EXPECT_FALSE(GiveUp(first.id, kNoShardHasIt).update_lost);
  EXPECT_TRUE(GiveUp(second.id, kSomeShardsHaveIt).update_lost);
  EXPECT_EQ(KindOf(first.id), kVoidWork);
  EXPECT_EQ(queue_.Join(Soon()), NotFoundError("no")) << "of the one that voided them";
  EXPECT_EQ(queue_.failed(), 1U);
  EXPECT_FALSE(GiveUp(first.id, kNoShardHasIt).update_lost) << "nobody has missed it";
}

TEST_F(ClosureQueueTest, WhenARepairIsEarly_ThatIsNoAttempt) {
  Serve();
  Schedule();
  Succeed(0);
  Report early;
  early.mutable_early()->set_count(1);
  early.mutable_error()->set_code(static_cast<std::uint32_t>(StatusCode::kInternal));
  for (int attempt = 1; attempt <= 3; ++attempt) Commit(0, early, false);
  EXPECT_EQ(KindOf(0), kRepairWork);
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
