// Single rules of the plan, one situation each.
#include "operator/plan/plan.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <variant>

#include "operator/plan/conditions.h"
#include "operator/plan/timestamp.h"
#include "proto/contract/exit_codes.h"
#include "tests/operator/plan/simulation.h"
#include "tests/operator/plan/snapshots.h"

namespace pstrain::plan {
namespace {

using std::chrono::seconds;

TEST(Plan, WhenTheJobIsNew_StartsEveryPlaceAfterStoringTheStatus) {
  Snapshot snapshot;
  snapshot.job = SimulatedJob(false);
  const PlanResult plan = Plan(snapshot, kNow);
  ASSERT_FALSE(plan.actions.empty());
  EXPECT_TRUE(std::holds_alternative<SetStatus>(plan.actions.front()));
  EXPECT_EQ(Actions<StartReplica>(plan).size(), 7U);
  EXPECT_EQ(plan.status.start_time(), FormatTimestamp(kNow));
}

TEST(Plan, WhenAWorkerCrashes_CountsItAndStartsTheNextAttemptAtOnce) {
  const PlanResult plan = Plan(With(Ended(Running(Role::kWorker, 0), 1)), kNow);
  const auto starts = Actions<StartReplica>(plan);
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_EQ(starts[0].attempt, 1);
  EXPECT_EQ(plan.status.restarts().failures(), 1);
}

TEST(Plan, WhenAWorkerCrashesAgain_WaitsOneSecond) {
  Snapshot snapshot = With(Ended(Running(Role::kWorker, 0, 1), 1));
  ReplicaRestarts& record =
      (*snapshot.job.mutable_status()->mutable_restarts()->mutable_replicas())["worker-0"];
  record.set_attempt(1);
  record.set_consecutive_failures(1);
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_TRUE(Actions<StartReplica>(plan).empty());
  ASSERT_EQ(Actions<RequeueAt>(plan).size(), 1U);
  EXPECT_EQ(Actions<RequeueAt>(plan)[0].time, kNow + seconds(1));
}

TEST(Plan, WhenAWorkerCrashesAfterTenHealthyMinutes_ForgetsEarlierCrashes) {
  Replica worker = Running(Role::kWorker, 0, 5);
  worker.started = kNow - seconds(600);
  Snapshot snapshot = With(Ended(worker, 1));
  ReplicaRestarts& record =
      (*snapshot.job.mutable_status()->mutable_restarts()->mutable_replicas())["worker-0"];
  record.set_attempt(5);
  record.set_consecutive_failures(5);
  EXPECT_EQ(Actions<StartReplica>(Plan(snapshot, kNow)).size(), 1U);
}

TEST(Plan, WhenAPodIsBeingDeleted_ReplacesItByTheRuleOfItsProgram) {
  Replica worker = Running(Role::kWorker, 0);
  worker.terminating = true;
  EXPECT_EQ(Actions<StartReplica>(Plan(With(worker, false), kNow)).size(), 1U);
  EXPECT_TRUE(Actions<StartReplica>(Plan(With(worker, true), kNow)).empty());
  EXPECT_EQ(Plan(With(worker, false), kNow).status.restarts().disruptions(), 1);
  EXPECT_EQ(Plan(With(worker, false), kNow).status.restarts().failures(), 0);
}

TEST(Plan, WhenAWorkerDrainsOrIsDisrupted_StartsTheNextAttemptAndCountsNoFailure) {
  for (const int code : {kExitDrained, kExitDisrupted}) {
    const PlanResult plan = Plan(With(Ended(Running(Role::kWorker, 0), code)), kNow);
    const auto starts = Actions<StartReplica>(plan);
    ASSERT_EQ(starts.size(), 1U) << code;
    EXPECT_EQ(starts[0].attempt, 1);
    EXPECT_EQ(plan.status.restarts().failures(), 0) << code;
    EXPECT_EQ(plan.status.restarts().disruptions(), 1) << code;
  }
}

TEST(Plan, EachCountedEnd_NamesItsCause) {
  const auto cause_of = [](const Replica& replica) {
    const PlanResult plan = Plan(With(replica, false), kNow);
    return plan.ends.size() == 1 ? std::string(RestartCauseName(plan.ends.front().cause)) : "";
  };
  const Replica worker = Running(Role::kWorker, 0);
  EXPECT_EQ(cause_of(Ended(worker, 1)), "crashed");
  EXPECT_EQ(cause_of(Ended(worker, kExitDisrupted)), "disrupted");
  EXPECT_EQ(cause_of(Ended(worker, kExitDrained)), "drained");
  Replica oom = Ended(worker, 137);
  oom.oom = true;
  EXPECT_EQ(cause_of(oom), "oom_killed");
  Replica deleted = worker;
  deleted.terminating = true;
  EXPECT_EQ(cause_of(deleted), "deleted");
  deleted.node_lost = true;
  EXPECT_EQ(cause_of(deleted), "node_lost");
  const std::vector<std::pair<Disruption, std::string>> disruptions = {
      {Disruption::kPreempted, "preempted"}, {Disruption::kTainted, "tainted"},
      {Disruption::kEvicted, "evicted"},     {Disruption::kNodePressure, "node_pressure"},
      {Disruption::kNodeLost, "node_lost"},  {Disruption::kNotAdmitted, "not_admitted"}};
  for (const auto& [disruption, name] : disruptions) {
    Replica disrupted = Ended(worker, 143);
    disrupted.disruption = disruption;
    EXPECT_EQ(cause_of(disrupted), name);
  }
}

/// The condition Failed of a job whose chief has exited 87 and said so much of it.
Condition AfterChiefFailedForGood(std::optional<StatedFailure> failure, std::string said = "") {
  Snapshot snapshot = With(Running(Role::kWorker, 0));
  snapshot.replicas.front() = Ended(Running(Role::kChief, 0), kExitPermanent);
  snapshot.replicas.front().failure = std::move(failure);
  snapshot.replicas.front().message = std::move(said);
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_EQ(plan.status.phase(), JobStatus::Failed);
  EXPECT_TRUE(Actions<StartReplica>(plan).empty());
  const Condition* failed = FindCondition(plan.status, "Failed");
  return failed == nullptr ? Condition() : *failed;
}

TEST(Plan, WhenTheChiefSaysThatNoAttemptCanSucceed_TheJobFailsWithoutAnother) {
  const Condition failed = AfterChiefFailedForGood(std::nullopt);
  EXPECT_EQ(failed.reason(), "ReplicaFailedForGood");
  EXPECT_EQ(failed.message(),
            "chief-0 exited with code 87: no attempt can succeed; its log says why");
  EXPECT_EQ(AfterChiefFailedForGood(std::nullopt, "its last line: no column age").message(),
            "chief-0 exited with code 87: no attempt can succeed; its last line: no column age");
}

TEST(Plan, WhenTheChiefStatesWhyNoAttemptCanSucceed_TheJobFailsWithThatReasonAndText) {
  const Condition failed =
      AfterChiefFailedForGood(StatedFailure{"InvalidInput", "data.csv: no such file"});
  EXPECT_EQ(failed.reason(), "InvalidInput");
  EXPECT_EQ(failed.message(), "chief-0: data.csv: no such file");
}

TEST(Plan, WhenAReplicaThatWasToldToGoExits87_TheJobGoesOn) {
  Replica evicted = Ended(Running(Role::kWorker, 0), kExitPermanent);
  evicted.disruption = Disruption::kEvicted;
  EXPECT_EQ(Plan(With(evicted), kNow).status.phase(), JobStatus::Running);
}

ReplicaRestarts& RecordOf(Snapshot& snapshot, const std::string& key) {
  return (*snapshot.job.mutable_status()->mutable_restarts()->mutable_replicas())[key];
}

/// Lived for `life` up to kNow.
Replica Lived(Replica replica, std::chrono::milliseconds life, std::int32_t exit_code) {
  replica.started = kNow - life;
  return Ended(replica, exit_code);
}

seconds WaitIn(const PlanResult& plan) {
  const auto requeues = Actions<RequeueAt>(plan);
  return requeues.size() == 1 && Actions<StartReplica>(plan).empty()
             ? std::chrono::duration_cast<seconds>(requeues[0].time - kNow)
             : seconds(0);
}

TEST(PlanRestartDelay,
     WhenADisruptedAttemptLivedUnderTenSeconds_TheNextOneWaitsTwiceAsLongEachTime) {
  const std::vector<int> waits = {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300};
  for (std::int32_t before = 0; before < 11; ++before) {
    Snapshot snapshot = With(Lived(Running(Role::kWorker, 0, before), seconds(9), kExitDisrupted));
    RecordOf(snapshot, "worker-0").set_attempt(before);
    RecordOf(snapshot, "worker-0").set_short_attempts(before);
    const PlanResult plan = Plan(snapshot, kNow);
    EXPECT_EQ(WaitIn(plan), seconds(waits[static_cast<std::size_t>(before)])) << before;
    EXPECT_EQ(plan.status.restarts().failures(), 0);
    EXPECT_EQ(plan.status.restarts().replicas().at("worker-0").short_attempts(), before + 1);
    EXPECT_NE(FindCondition(plan.status, "Restarting")->message().find("worker-0"),
              std::string::npos);
  }
}

TEST(PlanRestartDelay, WhenAnAttemptLivedTenSeconds_TheNextOneDoesNotWait) {
  Snapshot snapshot = With(Lived(Running(Role::kWorker, 0, 7), seconds(10), kExitDisrupted));
  RecordOf(snapshot, "worker-0").set_attempt(7);
  RecordOf(snapshot, "worker-0").set_short_attempts(7);
  RecordOf(snapshot, "worker-0").set_not_before_seconds(1'900'000'000);
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_EQ(Actions<StartReplica>(plan).size(), 1U);
  EXPECT_EQ(plan.status.restarts().replicas().at("worker-0").short_attempts(), 7);
  EXPECT_EQ(plan.status.restarts().replicas().at("worker-0").not_before_seconds(), 0);
  snapshot.replicas[3].started = kNow - seconds(60);
  EXPECT_EQ(Plan(snapshot, kNow).status.restarts().replicas().at("worker-0").short_attempts(), 0);
}

TEST(PlanRestartDelay, WhenCrashesAndShortLivesTakeTurns_TheyWaitAsOneSeries) {
  Snapshot snapshot = With(Lived(Running(Role::kWorker, 0, 3), seconds(1), kExitDisrupted));
  ReplicaRestarts& record = RecordOf(snapshot, "worker-0");
  record.set_attempt(3);
  record.set_short_attempts(1);
  record.set_consecutive_failures(2);
  EXPECT_EQ(WaitIn(Plan(snapshot, kNow)), seconds(8));
  snapshot.replicas[3] = Ended(snapshot.replicas[3], 1);
  EXPECT_EQ(WaitIn(Plan(snapshot, kNow)), seconds(4));
  EXPECT_NE(FindCondition(Plan(snapshot, kNow).status, "Restarting")
                ->message()
                .find("1 attempts in a row were ended within 10 s, and 3 attempts in a row failed; "
                      "the last was worker-0: Error, exit code 1"),
            std::string::npos);
}

TEST(PlanRestartDelay, WhenTheClockOfANodeIsWrong_TheWaitCountsFromTheCreation) {
  for (const seconds skew : {seconds(-3600), seconds(3600)}) {
    Replica worker = Lived(Running(Role::kWorker, 0), seconds(2), kExitDisrupted);
    worker.created = kNow - std::chrono::milliseconds(500);
    *worker.started += skew;
    *worker.ended += skew;
    EXPECT_EQ(WaitIn(Plan(With(worker), kNow)), seconds(1)) << skew.count();
    EXPECT_EQ(Plan(With(worker), kNow).status.restarts().replicas().at("worker-0").short_attempts(),
              1);
    // One that is being deleted has no end yet; it is no older than its pod.
    worker = Running(Role::kWorker, 0);
    worker.terminating = true;
    worker.created = kNow - seconds(3);
    *worker.started += skew;
    EXPECT_EQ(WaitIn(Plan(With(worker), kNow)), seconds(1)) << skew.count();
    // A long life is one by whichever clock.
    worker = Lived(Running(Role::kWorker, 0), seconds(700), kExitDisrupted);
    worker.created = kNow - seconds(701);
    *worker.started += skew;
    *worker.ended += skew;
    EXPECT_EQ(WaitIn(Plan(With(worker), kNow)), seconds(0)) << skew.count();
  }
}

TEST(PlanRestartDelay, WhenTheKubeletRefusesAPodOrAPodNeverRan_ItLivedForNoTime) {
  Replica refused = Lived(Running(Role::kWorker, 0), seconds(3600), 1);
  refused.disruption = Disruption::kNotAdmitted;
  Replica gone = Ended(Running(Role::kWorker, 0), 1);
  gone.started.reset();
  gone.terminating = true;
  for (const Replica& worker : {refused, gone}) {
    const PlanResult plan = Plan(With(worker), kNow);
    EXPECT_EQ(WaitIn(plan), seconds(1));
    EXPECT_EQ(plan.status.restarts().failures(), 0);
  }
}

TEST(PlanRestartDelay, WhenAPodThatRanForLongIsDeleted_ItsSuccessorDoesNotWait) {
  Replica worker = Running(Role::kWorker, 0);
  worker.terminating = true;
  EXPECT_EQ(Actions<StartReplica>(Plan(With(worker), kNow)).size(), 1U);
  worker.started = kNow - seconds(9);
  EXPECT_EQ(WaitIn(Plan(With(worker), kNow)), seconds(1));
}

// docs/design/drained-by-whom.md: who may have told a replica to stop, in every order in which the
// executor can come to see it.

TEST(PlanDrain, WhenAChiefExits85AndNobodyToldItTo_ItCrashed) {
  Snapshot snapshot = With(Running(Role::kWorker, 0));
  snapshot.job.mutable_spec()->mutable_run_policy()->set_backoff_limit(0);
  snapshot.replicas.front() = Ended(Running(Role::kChief, 0), kExitDrained);
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_EQ(plan.status.restarts().failures(), 1);
  EXPECT_EQ(plan.status.phase(), JobStatus::Failed);
}

TEST(PlanDrain, WhenAChiefExits85ThatWasToldTo_ItDrained) {
  Snapshot snapshot = With(Running(Role::kWorker, 0));
  Replica chief = Ended(Running(Role::kChief, 0), kExitDrained);
  chief.terminating = true;
  snapshot.replicas.front() = chief;
  EXPECT_EQ(Plan(snapshot, kNow).status.restarts().failures(), 0);
  chief.terminating = false;
  chief.disruption = Disruption::kNodePressure;  // its node shuts down
  snapshot.replicas.front() = chief;
  EXPECT_EQ(Plan(snapshot, kNow).status.restarts().failures(), 0);
}

TEST(PlanDrain, WhenASuspendedOrScaledAwayReplicaExits85_NothingIsCounted) {
  Snapshot suspended = With(Ended(Running(Role::kWorker, 0), kExitDrained));
  suspended.job.mutable_spec()->mutable_run_policy()->set_suspend(true);
  Snapshot scaled = With(Running(Role::kWorker, 0));
  scaled.job.mutable_spec()->mutable_replica_specs()->mutable_worker()->set_replicas(2);
  scaled.replicas[5] = Ended(Running(Role::kWorker, 2), kExitDrained);
  for (const Snapshot& snapshot : {suspended, scaled}) {
    const Restarts restarts = Plan(snapshot, kNow).status.restarts();
    EXPECT_EQ(restarts.failures(), 0);
    EXPECT_EQ(restarts.disruptions(), 0);
  }
}

/// A worker that has used up what is believed of it: only a cause makes its next 85 a drain.
Snapshot Doubted(const Replica& worker) {
  Snapshot snapshot = With(worker);
  RecordOf(snapshot, "worker-0").set_unexplained_drains(3);
  return snapshot;
}

int FailuresOf(const Snapshot& snapshot) {
  return Plan(snapshot, kNow).status.restarts().failures();
}

TEST(PlanDrain, WhenTheChiefIsBeingStopped_ItsPeersMayExit85) {
  Snapshot snapshot = Doubted(Ended(Running(Role::kWorker, 0), kExitDrained));
  EXPECT_EQ(FailuresOf(snapshot), 1);
  snapshot.replicas.front().terminating = true;
  EXPECT_EQ(FailuresOf(snapshot), 0);
  snapshot.replicas.front().terminating = false;
  snapshot.replicas.front().disruption = Disruption::kPreempted;
  EXPECT_EQ(FailuresOf(snapshot), 0);
}

TEST(PlanDrain, WhenTheChiefHasDrainedBeforeThePeerEnds_ThePeerFollows) {
  Snapshot snapshot = Doubted(Ended(Running(Role::kWorker, 0), kExitDrained));
  Replica chief = Ended(Running(Role::kChief, 0), kExitDrained);
  chief.terminating = true;
  for (const int ago : {0, 60}) {
    chief.started = kNow - seconds(100);
    snapshot.replicas[3].started = kNow - seconds(90);
    chief.ended = kNow - seconds(ago);
    snapshot.replicas.front() = chief;
    EXPECT_EQ(FailuresOf(snapshot), 0) << ago;
  }
  chief.ended = kNow - seconds(61);
  snapshot.replicas.front() = chief;
  EXPECT_EQ(FailuresOf(snapshot), 1);
}

TEST(PlanDrain, WhenAChiefDrainsAndNobodySeesWhoToldIt_ItsPeersFollowAllTheSame) {
  Snapshot snapshot = Doubted(Ended(Running(Role::kWorker, 0), kExitDrained));
  snapshot.replicas.front() = Ended(Running(Role::kChief, 0), kExitDrained);
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_EQ(plan.status.restarts().replicas().at("chief-0").failures(), 1);
  EXPECT_EQ(plan.status.restarts().replicas().at("worker-0").failures(), 0);
}

TEST(PlanDrain, WhenTheChiefsPodIsGoneBeforeThePeersEndShows_TheStatusStillKnows) {
  Snapshot before = With(Running(Role::kWorker, 0));
  Replica chief = Ended(Running(Role::kChief, 0), kExitDrained);
  chief.terminating = true;
  before.replicas.front() = chief;
  Snapshot after = Doubted(Ended(Running(Role::kWorker, 0), kExitDrained));
  *after.job.mutable_status() = Plan(before, kNow).status;
  RecordOf(after, "worker-0").set_unexplained_drains(3);
  after.replicas.front() = Running(Role::kChief, 0, 1);  // the next chief; the old pod is gone
  EXPECT_EQ(FailuresOf(after), 0);
  // A worker that came after that chief had gone was not told by it.
  after.replicas[3].started = kNow + seconds(1);
  EXPECT_EQ(FailuresOf(after), 1);
}

/// A worker that drained at that time, after the chief's pod has gone.
Snapshot ChiefGone(const Snapshot& before, Time worker_ended) {
  Snapshot after = Doubted(Ended(Running(Role::kWorker, 0), kExitDrained));
  *after.job.mutable_status() = Plan(before, kNow).status;
  RecordOf(after, "worker-0").set_unexplained_drains(3);
  after.replicas.front() = Running(Role::kChief, 0, 1);
  after.replicas[3].ended = worker_ended;
  return after;
}

TEST(PlanDrain, WhenTheChiefWasSeenOnlyWhileItStopped_TheStatusStillKnows) {
  Snapshot before = With(Running(Role::kWorker, 0));
  before.replicas.front().terminating = true;
  EXPECT_EQ(FailuresOf(ChiefGone(before, kNow)), 0);
}

TEST(PlanDrain, WhenTheChiefNeededLongToStop_ItsPeersHaveAMinuteFromItsEnd) {
  Snapshot stopping = With(Running(Role::kWorker, 0));
  stopping.replicas.front().terminating = true;
  Snapshot before = stopping;
  *before.job.mutable_status() = Plan(stopping, kNow - seconds(40)).status;
  before.replicas.front() = Ended(stopping.replicas.front(), kExitDrained);
  before.replicas.front().ended = kNow;
  const auto failures_at = [&](Time now) {
    return Plan(ChiefGone(before, now), now).status.restarts().failures();
  };
  EXPECT_EQ(failures_at(kNow + seconds(60)), 0);
  EXPECT_EQ(failures_at(kNow + seconds(61)), 1);
}

TEST(PlanDrain, WhenThePeersEndShowsBeforeTheChiefs_ItIsBelievedThreeTimes) {
  // The chief's node shuts down: its kubelet reports last, and no deletion shows that it was told.
  Snapshot snapshot = With(Ended(Running(Role::kWorker, 0), kExitDrained));
  for (std::int32_t attempt = 0; attempt < 4; ++attempt) {
    snapshot.replicas[3].attempt = attempt;
    const PlanResult plan = Plan(snapshot, kNow);
    EXPECT_EQ(plan.status.restarts().failures(), attempt < 3 ? 0 : 1) << attempt;
    *snapshot.job.mutable_status() = plan.status;
  }
}

/// What is still held against a worker after this life.
std::int32_t DoubtsAfter(const Replica& worker) {
  return Plan(Doubted(worker), kNow)
      .status.restarts()
      .replicas()
      .at("worker-0")
      .unexplained_drains();
}

TEST(PlanDrain, WhenAReplicaWasHealthyForLongAndWasToldToStop_ItIsBelievedAgain) {
  Replica worker = Lived(Running(Role::kWorker, 0), seconds(600), kExitDrained);
  worker.terminating = true;
  EXPECT_EQ(DoubtsAfter(worker), 0);
  EXPECT_EQ(DoubtsAfter(Lived(Running(Role::kWorker, 0), seconds(600), 1)), 0);
  EXPECT_EQ(DoubtsAfter(Lived(Running(Role::kWorker, 0), seconds(599), 1)), 3);
}

TEST(PlanDrain, WhenItLeavesOfItsOwnAccordAfterEachHealthyStretch_ItIsBelievedThreeTimes) {
  Snapshot snapshot = With(Lived(Running(Role::kWorker, 0), seconds(601), kExitDrained));
  for (std::int32_t attempt = 0; attempt < 4; ++attempt) {
    snapshot.replicas[3].attempt = attempt;
    const PlanResult plan = Plan(snapshot, kNow);
    EXPECT_EQ(plan.status.restarts().failures(), attempt < 3 ? 0 : 1) << attempt;
    *snapshot.job.mutable_status() = plan.status;
  }
}

TEST(PlanDrain, WhenAnOlderChiefIsStuckWhileItStops_PeersOfTheNextOneDoNotFollowIt) {
  Snapshot snapshot = Doubted(Ended(Running(Role::kWorker, 0), kExitDrained));
  RecordOf(snapshot, "chief-0").set_attempt(1);
  snapshot.replicas.front().terminating = true;
  snapshot.replicas.push_back(Running(Role::kChief, 0, 1));
  EXPECT_EQ(FailuresOf(snapshot), 1);
  snapshot.replicas.back().terminating = true;
  EXPECT_EQ(FailuresOf(snapshot), 0);
}

TEST(PlanDrain, WhenAChiefWasSuperseded_NobodyFollowsIt) {
  Snapshot snapshot = Doubted(Ended(Running(Role::kWorker, 0), kExitDrained));
  snapshot.replicas.front() = Ended(Running(Role::kChief, 0), kExitDisrupted);
  EXPECT_EQ(FailuresOf(snapshot), 1);
}

/// It was told to stop, and should have gone `ago`.
Replica Overdue(Replica replica, seconds ago) {
  replica.terminating = true;
  replica.node = "n2";
  replica.stop_by = kNow - ago;
  return replica;
}

TEST(PlanLost, WhileAPodDoesNotGo_AfterTerminationWaitsAndSaysForWhom) {
  const PlanResult plan = Plan(With(Overdue(Running(Role::kWorker, 0), seconds(3600)), true), kNow);
  EXPECT_TRUE(Actions<StartReplica>(plan).empty());
  EXPECT_TRUE(Actions<ForgetReplica>(plan).empty());
  EXPECT_TRUE(Actions<RequeueAt>(plan).empty());
  EXPECT_EQ(FindCondition(plan.status, "Restarting")->status(), "True");
  const std::string message = FindCondition(plan.status, "Restarting")->message();
  EXPECT_NE(message.find("worker-0 waits for its attempt 0 on node n2"), std::string::npos)
      << message;
  EXPECT_NE(message.find("replacementTimeoutSeconds would bound it"), std::string::npos);
}

TEST(PlanLost, WhenItsNodeIsLost_TheReplicaIsReplacedAndThePodDeletedByForce) {
  for (const bool own_program : {false, true}) {
    Replica worker = Overdue(Running(Role::kWorker, 0), seconds(0));
    worker.node_lost = true;
    const PlanResult plan = Plan(With(worker, own_program), kNow);
    ASSERT_EQ(Actions<StartReplica>(plan).size(), 1U);
    ASSERT_EQ(Actions<ForgetReplica>(plan).size(), 1U);
    EXPECT_EQ(Actions<ForgetReplica>(plan)[0].attempt, 0);
    EXPECT_EQ(plan.status.restarts().disruptions(), 1);
  }
  // Nobody has given the pod up: the node is perhaps only about to be replaced.
  Replica runs = Running(Role::kWorker, 0);
  runs.node_lost = true;
  EXPECT_TRUE(Actions<ForgetReplica>(Plan(With(runs), kNow)).empty());
}

Snapshot WithTimeout(const Replica& worker, int timeout) {
  Snapshot snapshot = With(worker, true);
  ReplicaSpecs& specs = *snapshot.job.mutable_spec()->mutable_replica_specs();
  specs.mutable_worker()->set_replacement_timeout_seconds(timeout);
  specs.mutable_chief()->set_replacement_timeout_seconds(timeout);
  return snapshot;
}

TEST(PlanLost, WhenTheReplacementTimeoutIsOver_TheReplicaIsReplaced) {
  const Snapshot early = WithTimeout(Overdue(Running(Role::kWorker, 0), seconds(59)), 60);
  EXPECT_TRUE(Actions<StartReplica>(Plan(early, kNow)).empty());
  EXPECT_TRUE(Actions<ForgetReplica>(Plan(early, kNow)).empty());
  ASSERT_EQ(Actions<RequeueAt>(Plan(early, kNow)).size(), 1U);
  EXPECT_EQ(Actions<RequeueAt>(Plan(early, kNow))[0].time, kNow + seconds(1));
  EXPECT_NE(FindCondition(Plan(early, kNow).status, "Restarting")
                ->message()
                .find("at the latest at " + FormatTimestamp(kNow + seconds(1))),
            std::string::npos);
  const Snapshot due = WithTimeout(Overdue(Running(Role::kWorker, 0), seconds(60)), 60);
  EXPECT_EQ(Actions<StartReplica>(Plan(due, kNow)).size(), 1U);
  EXPECT_EQ(Actions<ForgetReplica>(Plan(due, kNow)).size(), 1U);
}

TEST(PlanLost, WhenTheRestOfAPodDoesNotGo_TheSameHolds) {
  Replica worker = Ended(Overdue(Running(Role::kWorker, 0), seconds(61)), 1);
  worker.rest = Rest::kStops;
  EXPECT_EQ(Actions<ForgetReplica>(Plan(WithTimeout(worker, 60), kNow)).size(), 1U);
  EXPECT_TRUE(Actions<ForgetReplica>(Plan(WithTimeout(worker, 62), kNow)).empty());
}

TEST(PlanLost, WhileTheChiefsNodeIsAway_SuspensionEndsAllTheSame) {
  Snapshot snapshot = WithTimeout(Running(Role::kWorker, 0), 60);
  snapshot.job.mutable_spec()->mutable_run_policy()->set_suspend(true);
  snapshot.replicas.front() = Overdue(Running(Role::kChief, 0), seconds(59));
  EXPECT_TRUE(Actions<StopReplica>(Plan(snapshot, kNow)).empty());
  EXPECT_NE(FindCondition(Plan(snapshot, kNow).status, "Suspended")->message().find("chief-0"),
            std::string::npos);
  snapshot.replicas.front() = Overdue(Running(Role::kChief, 0), seconds(60));
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_EQ(Actions<StopReplica>(plan).size(), 6U);
  EXPECT_EQ(Actions<ForgetReplica>(plan).size(), 1U);
  EXPECT_EQ(plan.status.restarts().disruptions(), 0);
  // Its pod's name is not used again.
  EXPECT_EQ(plan.status.restarts().replicas().at("chief-0").attempt(), 1);
}

Replica OutOfMemory(Replica replica) {
  replica = Ended(replica, 137);
  replica.signal = 9;
  replica.oom = true;
  replica.node = "n2";
  replica.reason = "OOMKilled";
  replica.message = "first line\nkilled: out of memory\n";
  return replica;
}

TEST(PlanEnd, WhenAReplicaCrashes_TheStatusSaysHowAndWhere) {
  const PlanResult plan = Plan(With(OutOfMemory(Running(Role::kWorker, 0))), kNow);
  const AttemptEnd& end = plan.status.restarts().replicas().at("worker-0").last_end();
  EXPECT_EQ(end.reason(), "OOMKilled");
  EXPECT_EQ(end.exit_code(), 137);
  EXPECT_EQ(end.signal(), 9);
  EXPECT_TRUE(end.oom());
  EXPECT_EQ(end.node(), "n2");
  EXPECT_EQ(end.time(), FormatTimestamp(kNow));
  EXPECT_EQ(end.message(), "first line\nkilled: out of memory\n");
  ASSERT_EQ(plan.ends.size(), 1U);
  EXPECT_TRUE(plan.ends[0].failure);
  EXPECT_EQ(DescribeAttemptEnd(plan.ends[0].id, plan.ends[0].end),
            "worker-0 on node n2: OOMKilled, exit code 137: killed: out of memory");
}

TEST(PlanEnd, WhenAReplicaIsDisrupted_ItIsNotedOnceAndNoFailure) {
  Replica worker = Running(Role::kWorker, 0);
  worker.terminating = true;
  Snapshot snapshot = With(worker);
  const PlanResult plan = Plan(snapshot, kNow);
  ASSERT_EQ(plan.ends.size(), 1U);
  EXPECT_FALSE(plan.ends[0].failure);
  EXPECT_EQ(plan.ends[0].end.reason(), "Deleted");
  *snapshot.job.mutable_status() = plan.status;
  EXPECT_TRUE(Plan(snapshot, kNow).ends.empty());
}

TEST(PlanEnd, WhenNobodyIsToBlameOrAsked_NothingIsNoted) {
  EXPECT_TRUE(Plan(With(Ended(Running(Role::kWorker, 0), 0)), kNow).ends.empty());
  Snapshot suspended = With(Ended(Running(Role::kWorker, 0), kExitDrained));
  suspended.job.mutable_spec()->mutable_run_policy()->set_suspend(true);
  EXPECT_TRUE(Plan(suspended, kNow).ends.empty());
}

TEST(PlanEnd, OfALongMessage_KeepsTheLastLine) {
  Replica worker = Ended(Running(Role::kWorker, 0), 1);
  worker.message = std::string(5000, 'x') + "\nValueError: bad\n";
  EXPECT_EQ(MakeAttemptEnd(worker, kNow).message(), "ValueError: bad");
  worker.message = std::string(255, 'x') + "\u00e4" + std::string(100, 'y');
  EXPECT_EQ(MakeAttemptEnd(worker, kNow).message(), std::string(255, 'x'));
  EXPECT_EQ(MakeAttemptEnd(worker, kNow).reason(), "Error");
}

TEST(PlanEnd, WhenTheJobFails_TheConditionNamesTheReplicaAndItsLastLine) {
  Snapshot snapshot = With(OutOfMemory(Running(Role::kWorker, 0)));
  snapshot.job.mutable_spec()->mutable_run_policy()->set_backoff_limit(0);
  EXPECT_EQ(FindCondition(Plan(snapshot, kNow).status, "Failed")->message(),
            "replicas failed 1 times, backoffLimit is 0; the last was worker-0 on node n2: "
            "OOMKilled, exit code 137: killed: out of memory");
  snapshot.job.mutable_spec()->mutable_replica_specs()->mutable_worker()->set_restart_policy(
      RestartPolicy::Never);
  EXPECT_EQ(FindCondition(Plan(snapshot, kNow).status, "Failed")->message(),
            "worker-0 failed and its restartPolicy is Never; worker-0 on node n2: OOMKilled, exit "
            "code 137: killed: out of memory");
}

/// Worker 0 is as given, and so is the restartPolicy of workers and evaluator.
Snapshot WithPolicy(RestartPolicy policy, const Replica& worker) {
  Snapshot snapshot = With(worker, /*own_program=*/true);
  ReplicaSpecs& specs = *snapshot.job.mutable_spec()->mutable_replica_specs();
  specs.mutable_worker()->set_restart_policy(policy);
  specs.mutable_evaluator()->set_restart_policy(policy);
  return snapshot;
}

TEST(PlanExitCode, WhenTheProgramGaveTheCodeItself_TheJobFailsWithThatEnd) {
  for (const int code : {1, 2, 84, 126, 127}) {
    const PlanResult plan =
        Plan(WithPolicy(RestartPolicy::ExitCode, Ended(Running(Role::kWorker, 0), code)), kNow);
    EXPECT_EQ(plan.status.phase(), JobStatus::Failed) << code;
    EXPECT_TRUE(Actions<StartReplica>(plan).empty());
    const std::string text = std::to_string(code);
    EXPECT_EQ(FindCondition(plan.status, "Failed")->message(),
              "worker-0 exited with code " + text +
                  ", which restartPolicy ExitCode does not try again; worker-0: Error, exit code " +
                  text);
  }
}

TEST(PlanExitCode, WhenItDidNot_StartsTheNextAttempt) {
  for (const int code : {85, 86, 128, 137, 139, 255}) {
    const PlanResult plan =
        Plan(WithPolicy(RestartPolicy::ExitCode, Ended(Running(Role::kWorker, 0), code)), kNow);
    EXPECT_EQ(plan.status.phase(), JobStatus::Running) << code;
    EXPECT_EQ(Actions<StartReplica>(plan).size(), 1U) << code;
    EXPECT_EQ(plan.status.restarts().failures(), code >= 128 ? 1 : 0) << code;
  }
  Replica unseen = Running(Role::kWorker, 0);
  unseen.phase = ReplicaPhase::kFailed;
  const PlanResult plan = Plan(WithPolicy(RestartPolicy::ExitCode, unseen), kNow);
  EXPECT_EQ(plan.status.phase(), JobStatus::Running);
  EXPECT_EQ(plan.status.restarts().failures(), 1);
}

TEST(PlanExitCode, OfAnEndOfThePlatformOrOfAnEarlierPlan_IsNoReason) {
  Replica evicted = Ended(Running(Role::kWorker, 0), 1);
  evicted.disruption = Disruption::kEvicted;
  EXPECT_EQ(Plan(WithPolicy(RestartPolicy::ExitCode, evicted), kNow).status.phase(),
            JobStatus::Running);
  Snapshot snapshot = WithPolicy(RestartPolicy::ExitCode, Running(Role::kWorker, 0, 1));
  ReplicaRestarts& record =
      (*snapshot.job.mutable_status()->mutable_restarts()->mutable_replicas())["worker-0"];
  record.set_attempt(1);
  record.set_failures(1);
  record.mutable_last_end()->set_exit_code(1);
  EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Running);
}

TEST(PlanAlways, WhenAWorkerExits0_StartsItAgainAndCountsNoFailure) {
  const PlanResult plan =
      Plan(WithPolicy(RestartPolicy::Always, Ended(Running(Role::kWorker, 0), 0)), kNow);
  ASSERT_EQ(Actions<StartReplica>(plan).size(), 1U);
  EXPECT_EQ(Actions<StartReplica>(plan)[0].attempt, 1);
  const ReplicaRestarts& record = plan.status.restarts().replicas().at("worker-0");
  EXPECT_EQ(record.completions(), 1);
  EXPECT_FALSE(record.succeeded());
  EXPECT_EQ(plan.status.restarts().failures() + plan.status.restarts().disruptions(), 0);
  EXPECT_TRUE(plan.ends.empty());
}

TEST(PlanAlways, WhenAWorkerExits0Early_WaitsAsAfterAShortLife) {
  Replica worker = Running(Role::kWorker, 0);
  worker.started = kNow - seconds(9);
  const PlanResult plan = Plan(WithPolicy(RestartPolicy::Always, Ended(worker, 0)), kNow);
  EXPECT_TRUE(Actions<StartReplica>(plan).empty());
  ASSERT_EQ(Actions<RequeueAt>(plan).size(), 1U);
  EXPECT_EQ(Actions<RequeueAt>(plan)[0].time, kNow + seconds(1));
}

TEST(PlanAlways, WhenAWorkerOfASuspendedJobExits0_ItIsNotDone) {
  Snapshot snapshot = WithPolicy(RestartPolicy::Always, Ended(Running(Role::kWorker, 0), 0));
  snapshot.job.mutable_spec()->mutable_run_policy()->set_suspend(true);
  const PlanResult plan = Plan(snapshot, kNow);
  const ReplicaRestarts& record = plan.status.restarts().replicas().at("worker-0");
  EXPECT_FALSE(record.succeeded());
  EXPECT_EQ(record.completions(), 0);
  EXPECT_EQ(record.attempt(), 1);
}

TEST(PlanAlways, WhenTheChiefHasSucceeded_DoesNotWaitForTheEvaluator) {
  Snapshot snapshot = WithPolicy(RestartPolicy::Always, Running(Role::kWorker, 0));
  snapshot.replicas.front() = Ended(Running(Role::kChief, 0), 0);
  EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Succeeded);
  snapshot.job.mutable_spec()->mutable_replica_specs()->mutable_evaluator()->set_restart_policy(
      RestartPolicy::OnFailure);
  EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Running);
}

/// A job of the user's own program that ignores failures of its evaluator, which has ended so.
Snapshot IgnoringEvaluator(int exit_code, RestartPolicy policy = RestartPolicy::OnFailure) {
  Snapshot snapshot = WithPolicy(policy, Running(Role::kWorker, 0));
  RunPolicy& run_policy = *snapshot.job.mutable_spec()->mutable_run_policy();
  run_policy.set_evaluator_failures(RunPolicy::Ignore);
  run_policy.set_backoff_limit(0);
  snapshot.replicas.back() = Ended(Running(Role::kEvaluator, 0), exit_code);
  return snapshot;
}

TEST(PlanEvaluatorFailures, WhenTheyAreIgnored_ItStartsAgainAndCountsAgainstNoLimit) {
  const PlanResult plan = Plan(IgnoringEvaluator(1), kNow);
  EXPECT_EQ(plan.status.phase(), JobStatus::Running);
  ASSERT_EQ(Actions<StartReplica>(plan).size(), 1U);
  EXPECT_EQ(plan.status.restarts().failures(), 0);
  EXPECT_EQ(plan.status.restarts().replicas().at("evaluator-0").failures(), 1);
  EXPECT_EQ(plan.ends.size(), 1U);
  Snapshot counted = IgnoringEvaluator(1);
  counted.job.mutable_spec()->mutable_run_policy()->set_evaluator_failures(RunPolicy::Count);
  EXPECT_EQ(Plan(counted, kNow).status.phase(), JobStatus::Failed);
  Snapshot worker = IgnoringEvaluator(1);
  worker.replicas[3] = Ended(Running(Role::kWorker, 0), 1);
  EXPECT_EQ(
      FindCondition(Plan(worker, kNow).status, "Failed")->message(),
      "replicas failed 1 times, backoffLimit is 0; the last was worker-0: Error, exit code 1");
}

TEST(PlanEvaluatorFailures, WhenItMustNotStartAgain_ItIsGivenUp) {
  const std::pair<int, RestartPolicy> ends[] = {{1, RestartPolicy::Never},
                                                {1, RestartPolicy::ExitCode},
                                                {kExitPermanent, RestartPolicy::OnFailure}};
  for (const auto& [code, policy] : ends) {
    Snapshot snapshot = IgnoringEvaluator(code, policy);
    const PlanResult plan = Plan(snapshot, kNow);
    EXPECT_EQ(plan.status.phase(), JobStatus::Running);
    EXPECT_TRUE(Actions<StartReplica>(plan).empty());
    EXPECT_TRUE(plan.status.restarts().replicas().at("evaluator-0").given_up());
    EXPECT_EQ(FindCondition(plan.status, "Running")->status(), "True");
    // And nobody waits for it.
    *snapshot.job.mutable_status() = plan.status;
    snapshot.replicas.front() = Ended(Running(Role::kChief, 0), 0);
    EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Succeeded);
  }
}

TEST(PlanEvaluatorFailures, WhenItCrashesAfterTheChiefHasSucceeded_TheJobSucceeds) {
  Snapshot snapshot = IgnoringEvaluator(1);
  snapshot.replicas.front() = Ended(Running(Role::kChief, 0), 0);
  EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Succeeded);
}

TEST(PlanRest, WhenTheTrainingProgramHasEndedAndASidecarRunsOn_DeletesThePod) {
  for (const int code : {0, 1}) {
    Replica worker = Ended(Running(Role::kWorker, 0), code);
    worker.rest = Rest::kRuns;
    const PlanResult plan = Plan(With(worker), kNow);
    EXPECT_TRUE(std::holds_alternative<SetStatus>(plan.actions.front()));
    const auto deletes = Actions<DeleteReplica>(plan);
    ASSERT_EQ(deletes.size(), 1U) << code;
    EXPECT_EQ(deletes[0].id.index, 0);
    EXPECT_EQ(Actions<StartReplica>(plan).size(), code == 0 ? 0U : 1U);
    EXPECT_EQ(plan.status.restarts().failures(), code);
    worker.rest = Rest::kStops;
    EXPECT_TRUE(Actions<DeleteReplica>(Plan(With(worker), kNow)).empty());
  }
}

TEST(PlanRest, WhenASidecarRunsOn_TheJobEndsAllTheSame) {
  for (const auto policy : {RunPolicy::Running, RunPolicy::All, RunPolicy::None}) {
    Snapshot snapshot = With(Running(Role::kWorker, 0));
    snapshot.job.mutable_spec()->mutable_run_policy()->set_clean_pod_policy(policy);
    snapshot.replicas.front() = Ended(Running(Role::kChief, 0), 0);
    snapshot.replicas.front().rest = Rest::kRuns;
    const PlanResult plan = Plan(snapshot, kNow);
    EXPECT_EQ(plan.status.phase(), JobStatus::Succeeded);
    const auto deletes = Actions<DeleteReplica>(plan);
    ASSERT_EQ(deletes.size(), 1U);
    EXPECT_EQ(deletes[0].id.role, Role::kChief);
  }
}

TEST(PlanRest, UntilThePodIsGone_AfterTerminationWaitsAndSuspensionIsNotOver) {
  Replica worker = Ended(Running(Role::kWorker, 0), 1);
  worker.rest = Rest::kStops;
  EXPECT_TRUE(Actions<StartReplica>(Plan(With(worker, /*own_program=*/true), kNow)).empty());
  Snapshot suspended;
  suspended.job = SimulatedJob(false);
  suspended.job.mutable_spec()->mutable_run_policy()->set_suspend(true);
  suspended.replicas = {worker};
  EXPECT_NE(Plan(suspended, kNow).status.phase(), JobStatus::Suspended);
  worker.rest = Rest::kNone;
  EXPECT_EQ(Actions<StartReplica>(Plan(With(worker, true), kNow)).size(), 1U);
  suspended.replicas = {worker};
  EXPECT_EQ(Plan(suspended, kNow).status.phase(), JobStatus::Suspended);
}

TEST(Plan, WhenAWorkerExitsZero_DoesNotReplaceIt) {
  const PlanResult plan = Plan(With(Ended(Running(Role::kWorker, 0), 0)), kNow);
  EXPECT_TRUE(Actions<StartReplica>(plan).empty());
  EXPECT_EQ(plan.status.replica_statuses().at("worker").succeeded(), 1);
}

TEST(Plan, WhenTheBuiltInChiefSucceeds_TheJobHasWhateverTheEvaluatorDoes) {
  for (const Replica& evaluator :
       {Running(Role::kEvaluator, 0), Ended(Running(Role::kEvaluator, 0), 1),
        Ended(Running(Role::kEvaluator, 0), 0)}) {
    Snapshot snapshot = With(Running(Role::kWorker, 0));
    snapshot.replicas.front() = Ended(Running(Role::kChief, 0), 0);
    snapshot.replicas.back() = evaluator;
    const PlanResult plan = Plan(snapshot, kNow);
    EXPECT_EQ(plan.status.phase(), JobStatus::Succeeded);
    EXPECT_TRUE(Actions<StartReplica>(plan).empty());
  }
}

TEST(Plan, WhenAChiefOfOnesOwnSucceeds_TheJobWaitsForTheEvaluator) {
  Snapshot snapshot = With(Running(Role::kWorker, 0), /*own_program=*/true);
  snapshot.replicas.front() = Ended(Running(Role::kChief, 0), 0);
  EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Running);
  snapshot.replicas.back() = Ended(Running(Role::kEvaluator, 0), 1);
  const PlanResult crashed = Plan(snapshot, kNow);
  EXPECT_EQ(crashed.status.phase(), JobStatus::Running);
  const auto starts = Actions<StartReplica>(crashed);
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_EQ(starts[0].id.role, Role::kEvaluator);
  snapshot.replicas.back() = Ended(Running(Role::kEvaluator, 0), 0);
  EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Succeeded);
}

TEST(Plan, WhenTheEvaluatorAloneSucceeds_TheJobGoesOn) {
  for (const bool own_program : {false, true}) {
    Snapshot snapshot = With(Running(Role::kWorker, 0), own_program);
    snapshot.replicas.back() = Ended(Running(Role::kEvaluator, 0), 0);
    EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Running) << own_program;
  }
}

TEST(Plan, WhenWorkersAreScaledDown_StopsTheHighestIndexFirst) {
  Snapshot snapshot = With(Running(Role::kWorker, 0));
  snapshot.job.mutable_spec()->mutable_replica_specs()->mutable_worker()->set_replicas(1);
  const auto stops = Actions<StopReplica>(Plan(snapshot, kNow));
  ASSERT_EQ(stops.size(), 2U);
  EXPECT_EQ(stops[0].id.index, 2);
  EXPECT_EQ(stops[1].id.index, 1);
}

TEST(Plan, WhenSuspended_StopsTheChiefFirst) {
  Snapshot snapshot = With(Running(Role::kWorker, 0));
  snapshot.job.mutable_spec()->mutable_run_policy()->set_suspend(true);
  const auto stops = Actions<StopReplica>(Plan(snapshot, kNow));
  ASSERT_EQ(stops.size(), 1U);
  EXPECT_EQ(stops[0].id.role, Role::kChief);
  EXPECT_EQ(stops[0].grace, snapshot.grace);
}

TEST(Plan, WhenSuspendedPastItsDeadline_GoesOnDraining) {
  Snapshot snapshot = With(Running(Role::kWorker, 0));
  snapshot.job.mutable_spec()->mutable_run_policy()->set_active_deadline_seconds(60);
  snapshot.job.mutable_spec()->mutable_run_policy()->set_suspend(true);
  snapshot.job.mutable_status()->set_start_time(FormatTimestamp(kNow - seconds(61)));
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_NE(plan.status.phase(), JobStatus::Failed);
  EXPECT_EQ(Actions<StopReplica>(plan).size(), 1U);
}

TEST(Plan, WhenSeveralAttemptsHaveEnded_DeletesAllButTheLast) {
  Snapshot snapshot = With(Running(Role::kWorker, 0, 2));
  snapshot.replicas.push_back(Ended(Running(Role::kWorker, 0, 0), 1));
  snapshot.replicas.push_back(Ended(Running(Role::kWorker, 0, 1), 1));
  (*snapshot.job.mutable_status()->mutable_restarts()->mutable_replicas())["worker-0"].set_attempt(
      2);
  const auto deletes = Actions<DeleteReplica>(Plan(snapshot, kNow));
  ASSERT_EQ(deletes.size(), 1U);
  EXPECT_EQ(deletes[0].attempt, 0);
}

TEST(Timestamp, RoundTrips) {
  EXPECT_EQ(FormatTimestamp(kNow), "2027-01-15T08:00:00Z");
  EXPECT_EQ(ParseTimestamp("2027-01-15T08:00:00Z"), kNow);
  for (const char* text : {"", "2027-01-15", "2027-13-15T08:00:00Z", "2027-01-15T08:00:00+"}) {
    EXPECT_FALSE(ParseTimestamp(text).has_value()) << text;
  }
}

const Condition* Find(const JobStatus& status, const std::string& type) {
  for (const Condition& condition : status.conditions()) {
    if (condition.type() == type) return &condition;
  }
  return nullptr;
}

Snapshot WithChief(const std::optional<FinalCounts>& counts) {
  Snapshot snapshot = With(Running(Role::kWorker, 0));
  snapshot.replicas[0] = Ended(snapshot.replicas[0], 0);
  snapshot.replicas[0].counts = counts;
  return snapshot;
}

TEST(Plan, WhenTheChiefsCountsAgree_TheJobSucceeds) {
  const PlanResult plan = Plan(WithChief(kProven), kNow);
  EXPECT_EQ(plan.status.phase(), JobStatus::Succeeded);
  EXPECT_EQ(Find(plan.status, "Succeeded")->message(), "the chief has finished");
}

TEST(Plan, WhenAChiefThatExitsWith0HasOtherCounts_TheJobFails) {
  const FinalCounts kWrong[] = {{240000, 240000, 71576, 240000},
                                {8000, 8000, 8000, 24720},
                                {8000, 24720, 8000, 8000},
                                {8000, 7999, 7999, 7999}};
  for (const FinalCounts& counts : kWrong) {
    const PlanResult plan = Plan(WithChief(counts), kNow);
    EXPECT_EQ(plan.status.phase(), JobStatus::Failed);
    const Condition* failed = Find(plan.status, "Failed");
    ASSERT_NE(failed, nullptr);
    EXPECT_EQ(failed->reason(), "ResultNotProven");
    EXPECT_NE(failed->message().find(std::to_string(counts.applied_max)), std::string::npos)
        << failed->message();
  }
}

TEST(Plan, WhenTheChiefsCountsAreNotKnown_TheJobFailsAndSaysWhereToLook) {
  const PlanResult plan = Plan(WithChief(std::nullopt), kNow);
  EXPECT_EQ(plan.status.phase(), JobStatus::Failed);
  EXPECT_EQ(Find(plan.status, "Failed")->reason(), "ResultNotProven");
  EXPECT_NE(Find(plan.status, "Failed")->message().find("result.json"), std::string::npos);
}

TEST(Plan, WhenTheExecutorChecksTheResult_TheChiefsExitIsEnough) {
  Snapshot snapshot = WithChief(std::nullopt);
  snapshot.executor_checks_result = true;
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_EQ(Find(plan.status, "Succeeded")->reason(), "JobSucceeded");
  snapshot.replicas[0].counts = FinalCounts{8000, 8000, 8000, 7999};
  EXPECT_EQ(Plan(snapshot, kNow).status.phase(), JobStatus::Failed) << "what is known counts";
}

TEST(Plan, WhenTrainingHasEndedEarly_TheJobSucceedsAndSaysSo) {
  FinalCounts counts{8000, 8000, 8000, 8000, true};
  EXPECT_EQ(Find(Plan(WithChief(counts), kNow).status, "Succeeded")->reason(), "EarlyStopped");
  counts.committed = 7000;
  EXPECT_EQ(Plan(WithChief(counts), kNow).status.phase(), JobStatus::Failed);
}

TEST(Plan, WhenTheChiefIsAProgramOfYourOwn_ItsExitIsEnough) {
  Snapshot snapshot = WithChief(std::nullopt);
  snapshot.job.mutable_spec()->clear_training();
  snapshot.replicas.back() = Ended(snapshot.replicas.back(), 0);  // the evaluator
  const PlanResult plan = Plan(snapshot, kNow);
  EXPECT_EQ(plan.status.phase(), JobStatus::Succeeded);
  EXPECT_EQ(Find(plan.status, "Succeeded")->reason(), "JobSucceeded");
}

}  // namespace
}  // namespace pstrain::plan
