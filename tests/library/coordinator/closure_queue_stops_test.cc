// Attempts that workers give up and functions that are to stop, beside a chief that has no peers.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/chief/grants/read_only_work.h"
#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_ids.h"
#include "tests/library/coordinator/queue_fixture.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Told = ChiefJob::Work::Stops::Told;

/// The test says what workers give up, and what shards have.
class ClosureQueueStopsTest : public QueueFixture {
 protected:
  ClosureQueueStopsTest() : QueueFixture({}) {}

  void SetUp() override {
    Serve();
    ProtocolOptions options;
    options.shard_to_ps = {0};
    options.source = work_.source;
    protocol_ = std::make_unique<CommitProtocol>(std::move(options));
    const auto incarnation = protocol_->RegisterPs(0, {7, 0}, "ps:0", {}, {});
    ASSERT_TRUE(incarnation.ok());
    for (const ProtocolAction& action : protocol_->TakeActions()) {
      if (const auto* assign = std::get_if<AssignShardsAction>(&action)) {
        ShardCopy copy;
        copy.shard = assign->shards[0].shard;
        copy.term = assign->shards[0].term;
        copy.active = true;
        copy.applied = AppliedSet(ClosureSource::kChunkSize);
        protocol_->ShardsActivated(0, *incarnation, {copy});
      }
    }
    for (const std::uint32_t worker : {0U, 1U}) {
      EXPECT_TRUE(protocol_->WorkerSeen(worker, {worker + 1, 0}, {}));
    }
  }

  ClosureQueue::Scheduled Schedule() {
    return QueueFixture::Schedule(
        "call", {.name = "Train", .function = {.deadline = milliseconds(1500)}, .schedule = {}});
  }
  std::vector<WorkId> Grant(std::uint32_t worker, std::uint32_t want = 1) {
    std::vector<WorkId> granted;
    for (const GrantedWorkId& grant : protocol_->Grants(worker, want)) {
      granted.push_back(grant.work_id);
      EXPECT_EQ(grant.content.deadline, milliseconds(1500));
    }
    return granted;
  }
  ChiefJob::Heard Miss(ClosureQueue::Id id, std::uint32_t worker) {
    protocol_->ReturnGrants(worker, {IdOf(id)});
    return work_.stops.missed(IdOf(id), worker, *protocol_);
  }
  Told Tell(const std::set<WorkId>& in_flight) {
    return work_.stops.tell(in_flight, clock_.Now(), *protocol_);
  }
  ChiefJob::Heard Commit(ClosureQueue::Id id, const Report& report = {}) {
    return work_.reported(IdOf(id), report, true, *protocol_);
  }
  void Fail(ClosureQueue::Id id, StatusCode code = StatusCode::kAborted) {
    Report report;
    report.mutable_error()->set_code(static_cast<std::uint32_t>(code));
    Commit(id, report);
  }
  /// Of a function that changes nothing, which a worker has.
  std::pair<ClosureQueue::Scheduled, WorkId> RunReadOnly(std::uint32_t worker) {
    work_.read_only->SetRegistered(worker, true);
    auto call = QueueFixture::Schedule("look", {.name = "Look", .function = {.writes = false}});
    const auto grants = work_.read_only->Grants(worker, 1, *protocol_);
    EXPECT_EQ(grants.size(), 1U);
    return {call, grants.empty() ? WorkId() : FromWire(grants[0].work_id())};
  }
  static Status OutcomeOf(const ClosureQueue::Scheduled& call) {
    return call.state->Wait(SteadyTime::min()).status();
  }
  static constexpr StatusCode kOpen = StatusCode::kDeadlineExceeded;

  std::unique_ptr<CommitProtocol> protocol_;
};

TEST_F(ClosureQueueStopsTest, WhenAnAttemptMissesItsDeadline_AnotherWorkerHasItNext) {
  Schedule();
  EXPECT_EQ(Grant(0), std::vector{IdOf(0)});
  Miss(0, 0);
  EXPECT_EQ(KindOf(0), kClosureWork);
  EXPECT_EQ(Grant(0), std::vector<WorkId>());
  EXPECT_EQ(protocol_->Grantable(), 1U);
  EXPECT_EQ(Grant(1), std::vector{IdOf(0)});
  EXPECT_EQ(protocol_->Grantable(), 0U);
  Miss(0, 1);
  EXPECT_EQ(Grant(1), std::vector<WorkId>());
  EXPECT_EQ(Grant(0), std::vector{IdOf(0)});
}

TEST_F(ClosureQueueStopsTest, WhenTheOtherWorkerDoesNotTakeIt_TheSameHasItAfterAWhile) {
  Schedule();
  Grant(0);
  Miss(0, 0);
  Tell({});
  clock_.Advance(MissedCalls::kElsewhere - milliseconds(1));
  Tell({});
  EXPECT_EQ(Grant(0), std::vector<WorkId>());
  clock_.Advance(milliseconds(1));
  Tell({});
  EXPECT_EQ(Grant(0), std::vector{IdOf(0)});
}

TEST_F(ClosureQueueStopsTest, WhenItIsTheOnlyWorker_ItHasItAgain) {
  Schedule();
  Grant(0);
  protocol_->WorkerLost(1, 2);
  Miss(0, 0);
  EXPECT_EQ(Grant(0), std::vector{IdOf(0)});
}

TEST_F(ClosureQueueStopsTest, WhenTheNextPhaseWaitsForIt_OthersAreToldOfIt) {
  Schedule();
  ASSERT_EQ(queue_.Join(SteadyTime::min()).code(), kOpen);
  Schedule();
  Grant(0);
  Miss(0, 0);
  EXPECT_EQ(Grant(0), std::vector<WorkId>());
  EXPECT_EQ(protocol_->Grantable(), 1U);
  EXPECT_EQ(Grant(1), std::vector{IdOf(0)});
}

TEST_F(ClosureQueueStopsTest, WhenThreeAttemptsMissTheirDeadline_TheCallIsAnError) {
  const auto call = Schedule();
  for (const std::uint32_t worker : {0U, 1U, 0U}) {
    EXPECT_EQ(Grant(worker), std::vector{IdOf(0)});
    EXPECT_EQ(KindOf(0), kClosureWork);
    Miss(0, worker);
  }
  EXPECT_EQ(KindOf(0), kLostWork) << "left out where it is lacking";
  EXPECT_EQ(OutcomeOf(call).code(), kOpen) << "not before all shards have left it out";
  Report report;
  report.mutable_error()->set_code(static_cast<std::uint32_t>(StatusCode::kCancelled));
  report.set_result(std::string(kNoShardHasIt));
  Commit(0, report);
  const Status error(
      StatusCode::kDeadlineExceeded,
      "Train had not returned after its deadline of 1500 ms in each of 3 attempts, on worker 0, "
      "worker 1, worker 0; raise FunctionOptions.deadline, or see what the function waits for");
  EXPECT_EQ(OutcomeOf(call), error);
  EXPECT_EQ(queue_.Join(SteadyTime::max()), error);
  EXPECT_EQ(queue_.failed(), 1U);
  EXPECT_EQ(queue_.lost(), 0U);
  EXPECT_EQ(KindOf(0), kVoidWork);
}

TEST_F(ClosureQueueStopsTest, WhenAShardHasItAllTheSame_TheCallSaysSo) {
  const auto call = Schedule();
  for (int i = 0; i < 3; ++i) Miss(0, 0);
  Report report;
  report.mutable_error()->set_code(static_cast<std::uint32_t>(StatusCode::kCancelled));
  report.set_result(std::string(kSomeShardsHaveIt));
  EXPECT_TRUE(Commit(0, report).update_lost);
  EXPECT_EQ(OutcomeOf(call).code(), StatusCode::kDeadlineExceeded);
  EXPECT_NE(OutcomeOf(call).message().find("some shards have"), std::string::npos);
  EXPECT_EQ(queue_.lost(), 1U);
}

TEST_F(ClosureQueueStopsTest, WhenAnErrorVoidsTheRest_WhatWasMissedTooOftenKeepsItsOwn) {
  const auto call = Schedule();
  Schedule();
  for (int i = 0; i < 3; ++i) Miss(0, 0);
  Fail(1);
  EXPECT_EQ(KindOf(0), kLostWork);
  EXPECT_EQ(OutcomeOf(call).code(), kOpen);
}

TEST_F(ClosureQueueStopsTest, WhenItHadSucceeded_ThreeMissedAreThreeFailuresOfItsRepair) {
  const auto call = Schedule();
  Commit(0);
  EXPECT_EQ(OutcomeOf(call), OkStatus());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(KindOf(0), kRepairWork);
    Miss(0, 0);
  }
  EXPECT_EQ(KindOf(0), kLostWork);
}

TEST_F(ClosureQueueStopsTest, WhenAnErrorVoidsTheRest_WhatRunsIsToldToStop) {
  const auto running = Schedule();
  const auto open = Schedule();
  Schedule();
  Grant(0);
  EXPECT_TRUE(Tell({IdOf(0)}).stop.empty());
  Fail(2);
  EXPECT_EQ(KindOf(0), kClosureWork);
  EXPECT_EQ(KindOf(1), kVoidWork);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Tell({IdOf(0)}).stop, std::vector{IdOf(0)}) << "with each answer";
  }
  EXPECT_TRUE(Tell({}).stop.empty()) << "another worker";
  Fail(0, StatusCode::kCancelled);
  EXPECT_EQ(OutcomeOf(running).code(), StatusCode::kCancelled);
  EXPECT_EQ(queue_.failed(), 1U) << "it is void, and no error";
  EXPECT_TRUE(Tell({IdOf(0)}).stop.empty());
}

TEST_F(ClosureQueueStopsTest, WhenWhatIsToStopHasAnErrorOfItsOwn_ThatCounts) {
  Schedule();
  Schedule();
  Grant(0);
  Fail(1);
  Fail(0);
  EXPECT_EQ(queue_.failed(), 2U);
}

TEST_F(ClosureQueueStopsTest, WhenWhatIsToStopIsGivenBack_ItIsVoid) {
  const auto call = Schedule();
  Schedule();
  Grant(0);
  Fail(1);
  EXPECT_EQ(Tell({IdOf(0)}).stop.size(), 1U);
  protocol_->ReturnGrants(0, {IdOf(0)});
  Tell({});
  EXPECT_EQ(KindOf(0), kVoidWork);
}

TEST_F(ClosureQueueStopsTest, WhenItDoesNotStopInTime_ItIsGivenUpAndVoid) {
  ASSERT_EQ(queue_.SetOptions({.errors = FailFast{}, .cancel_timeout = seconds(2)}), OkStatus());
  const auto call = Schedule();
  Schedule();
  Grant(0);
  Fail(1);
  Tell({IdOf(0)});
  clock_.Advance(milliseconds(1999));
  EXPECT_TRUE(Tell({IdOf(0)}).give_up.empty());
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(Tell({IdOf(0)}).give_up, std::vector{IdOf(0)});
  Miss(0, 0);
  EXPECT_EQ(KindOf(0), kVoidWork);
  Fail(0, StatusCode::kCancelled);
  EXPECT_EQ(OutcomeOf(call).code(), StatusCode::kCancelled);
  EXPECT_EQ(queue_.failed(), 1U);
}

TEST_F(ClosureQueueStopsTest, WhatWasPrepared_IsNeitherStoppedNorVoid) {
  Schedule();
  Schedule();
  Grant(0);
  EXPECT_EQ(work_.prepared.keep(IdOf(0), "some shard may have it", *protocol_), std::nullopt);
  Fail(1);
  EXPECT_TRUE(Tell({IdOf(0)}).stop.empty());
  for (int i = 0; i < 3; ++i) Miss(0, 0);
  EXPECT_EQ(KindOf(0), kClosureWork);
}

TEST_F(ClosureQueueStopsTest, WhenAnAttemptHasFailedThatAShardHas_ItRunsOn) {
  Schedule();
  Schedule();
  Grant(0);
  Report report;
  report.mutable_error()->set_code(static_cast<std::uint32_t>(StatusCode::kAborted));
  work_.reported(IdOf(0), report, false, *protocol_);
  Fail(1);
  EXPECT_TRUE(Tell({IdOf(0)}).stop.empty());
}

TEST_F(ClosureQueueStopsTest, WhenAnErrorVoidsTheRest_WhatRunsWithoutAnIdIsToldToStop) {
  const auto [call, attempt] = RunReadOnly(0);
  Schedule();
  EXPECT_TRUE(Tell({attempt}).stop.empty());
  Fail(0);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Tell({attempt}).stop, std::vector{attempt});
  EXPECT_TRUE(Tell({}).stop.empty()) << "another worker";
  EXPECT_EQ(OutcomeOf(call).code(), kOpen);
  Report report;
  report.mutable_error()->set_code(static_cast<std::uint32_t>(StatusCode::kCancelled));
  work_.read_only->Reported(attempt, report, *protocol_);
  EXPECT_EQ(OutcomeOf(call).code(), StatusCode::kCancelled);
  EXPECT_EQ(queue_.failed(), 1U) << "it is void, and no error";
  EXPECT_TRUE(Tell({attempt}).stop.empty());
}

TEST_F(ClosureQueueStopsTest, WhenWhatIsToStopWithoutAnIdReturns_ThatCounts) {
  const auto [succeeds, first] = RunReadOnly(0);
  const auto [fails, second] = RunReadOnly(1);
  Schedule();
  Fail(0);
  Report report;
  report.set_result("seen");
  work_.read_only->Reported(first, report, *protocol_);
  EXPECT_EQ(OutcomeOf(succeeds), OkStatus());
  report.mutable_error()->set_code(static_cast<std::uint32_t>(StatusCode::kAborted));
  work_.read_only->Reported(second, report, *protocol_);
  EXPECT_EQ(OutcomeOf(fails).code(), StatusCode::kAborted);
  EXPECT_EQ(queue_.failed(), 2U);
}

TEST_F(ClosureQueueStopsTest, WhenNobodyHasWhatIsToStopWithoutAnId_ItIsVoid) {
  const auto [given_back, first] = RunReadOnly(0);
  const auto [lost, second] = RunReadOnly(1);
  const auto [early, third] = RunReadOnly(0);
  Schedule();
  Fail(0);
  work_.read_only->Returned(first);
  work_.read_only->SetRegistered(1, false);
  Report report;
  report.mutable_early()->set_count(1);
  work_.read_only->Reported(third, report, *protocol_);
  EXPECT_TRUE(work_.read_only->Grants(0, 3, *protocol_).empty());
  EXPECT_TRUE(Tell({first, second, third}).stop.empty());
  for (const auto& call : {given_back, lost, early})
    EXPECT_EQ(OutcomeOf(call).code(), StatusCode::kCancelled);
  EXPECT_EQ(queue_.failed(), 1U);
  EXPECT_TRUE(work_.read_only->Done());
  EXPECT_EQ(queue_.Join(SteadyTime::max()).code(), StatusCode::kAborted);
}

TEST_F(ClosureQueueStopsTest, WhenWhatRunsWithoutAnIdDoesNotStopInTime_ItIsGivenUpAndVoid) {
  ASSERT_EQ(queue_.SetOptions({.errors = FailFast{}, .cancel_timeout = seconds(2)}), OkStatus());
  const auto [call, attempt] = RunReadOnly(0);
  Schedule();
  Fail(0);
  Tell({attempt});
  clock_.Advance(seconds(2));
  EXPECT_EQ(Tell({attempt}).give_up, std::vector{attempt});
  Report report;
  report.set_missed(true);
  work_.read_only->Reported(attempt, report, *protocol_);
  EXPECT_EQ(OutcomeOf(call).code(), StatusCode::kCancelled);
  EXPECT_EQ(queue_.failed(), 1U);
}

TEST_F(ClosureQueueStopsTest, ItsFunction_HasANameWhileItIsOpen) {
  const auto [call, attempt] = RunReadOnly(0);
  EXPECT_EQ(work_.stops.name_of(attempt), "Look");
  work_.read_only->Reported(attempt, {}, *protocol_);
  EXPECT_EQ(work_.stops.name_of(attempt), "");
  Schedule();
  EXPECT_EQ(work_.stops.name_of(IdOf(0)), "Train");
  Commit(0);
  EXPECT_EQ(work_.stops.name_of(IdOf(0)), "");
}

TEST_F(ClosureQueueStopsTest, WhenTheTimeoutIsNotPositive_ItIsRefused) {
  EXPECT_EQ(queue_.SetOptions({.errors = FailFast{}, .cancel_timeout = milliseconds(0)}),
            InvalidArgumentError("CoordinatorOptions.cancel_timeout is 0 ms, and has to be "
                                 "positive"));
}

}  // namespace
}  // namespace pstrain
