#include "operator/job/act/status_summary.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "operator/plan/conditions.h"

namespace pstrain::job {
namespace {

constexpr plan::Time kNow{std::chrono::hours(1000)};

void SetReady(const std::string& role, int ready, int desired, JobStatus& status) {
  ReplicaStatus& counts = (*status.mutable_replica_statuses())[role];
  counts.set_ready(ready);
  counts.set_desired(desired);
  counts.set_summary(std::to_string(ready) + "/" + std::to_string(desired));
}

JobStatus Running(int workers) {
  JobStatus status;
  status.set_phase(JobStatus::Running);
  SetReady("chief", 1, 1, status);
  SetReady("worker", workers, 3, status);
  return status;
}

void Put(std::string_view type, bool value, std::string_view reason, JobStatus& status) {
  plan::PutCondition({.type = type, .value = value, .reason = reason, .message = {}}, kNow, status);
}

/// "True ReplicasMissing", or "absent".
std::string Said(const JobStatus& status, std::string_view type) {
  const Condition* condition = plan::FindCondition(status, type);
  return condition == nullptr ? "absent" : condition->status() + " " + condition->reason();
}
std::string MessageOf(const JobStatus& status, std::string_view type) {
  const Condition* condition = plan::FindCondition(status, type);
  return condition == nullptr ? "" : condition->message();
}

TEST(StatusSummary, WhilePodsStart_NamesThoseThatAreNotReady) {
  JobStatus status = Running(1);
  SetReady("ps", 0, 2, status);
  Summarize(false, 1, kNow, status);
  EXPECT_EQ(Said(status, kPodsReady), "False ReplicasNotReady");
  EXPECT_EQ(MessageOf(status, kPodsReady), "ps 0/2, worker 1/3 ready");
  EXPECT_EQ(Said(status, kDegraded), "absent") << "it never had all of them";
  EXPECT_EQ(Said(status, kCheckpointed), "absent");
}

TEST(StatusSummary, OnceAllWereThere_AMissingOneDegrades) {
  JobStatus status = Running(3);
  Summarize(false, 1, kNow, status);
  EXPECT_EQ(Said(status, kPodsReady), "True AllReplicas");
  EXPECT_EQ(MessageOf(status, kPodsReady), "");
  EXPECT_EQ(Said(status, kDegraded), "False AllReplicas");
  SetReady("worker", 2, 3, status);
  Summarize(false, 1, kNow + std::chrono::seconds(1), status);
  EXPECT_EQ(Said(status, kDegraded), "True ReplicasMissing");
  EXPECT_NE(MessageOf(status, kDegraded).find("worker 2/3 ready"), std::string::npos);
  EXPECT_EQ(status.reason(), "ReplicasMissing");
}

TEST(StatusSummary, WhoHasDoneItsPart_IsNotMissing) {
  JobStatus status = Running(1);
  (*status.mutable_replica_statuses())["worker"].set_succeeded(2);
  Summarize(false, 1, kNow, status);
  EXPECT_EQ(Said(status, kPodsReady), "True AllReplicas");
}

TEST(StatusSummary, WhoIsGivenUp_DegradesAndIsNotWaitedFor) {
  JobStatus status = Running(3);
  SetReady("evaluator", 0, 1, status);
  (*status.mutable_restarts()->mutable_replicas())["evaluator-0"].set_given_up(true);
  Summarize(false, 1, kNow, status);
  EXPECT_EQ(Said(status, kPodsReady), "True AllReplicas");
  EXPECT_EQ(Said(status, kDegraded), "True ReplicasGivenUp");
  EXPECT_NE(MessageOf(status, kDegraded).find("without evaluator-0"), std::string::npos);
}

TEST(StatusSummary, AtTheEndAndWhileSuspended_NothingIsReadyOrDegraded) {
  for (const auto phase : {JobStatus::Succeeded, JobStatus::Failed}) {
    JobStatus status = Running(3);
    Summarize(false, 1, kNow, status);
    status.set_phase(phase);
    Summarize(false, 1, kNow, status);
    EXPECT_EQ(Said(status, kPodsReady), "False JobFinished");
    EXPECT_EQ(Said(status, kDegraded), "absent");
  }
  JobStatus status = Running(3);
  Put("Suspended", false, "NotSuspended", status);
  Summarize(false, 1, kNow, status);
  EXPECT_EQ(Said(status, kPodsReady), "True AllReplicas");
  SetReady("worker", 1, 3, status);
  Put("Suspended", false, "JobSuspending", status);
  Summarize(false, 1, kNow, status);
  EXPECT_EQ(Said(status, kPodsReady), "False JobSuspending");
  EXPECT_EQ(Said(status, kDegraded), "absent");
  Put("Suspended", true, "JobSuspended", status);
  Summarize(false, 1, kNow, status);
  EXPECT_EQ(Said(status, kPodsReady), "False JobSuspended");
  EXPECT_EQ(status.reason(), "JobSuspended");
}

TEST(StatusSummary, OfCheckpoints_SaysWhenTheNewestWas) {
  JobStatus status = Running(3);
  Summarize(true, 1, kNow, status);
  EXPECT_EQ(Said(status, kCheckpointed), "absent") << "nobody has heard the chief";
  status.mutable_training()->set_examples_expected(100);
  Summarize(true, 1, kNow, status);
  EXPECT_EQ(Said(status, kCheckpointed), "False NoCheckpointYet");
  status.mutable_training()->set_last_checkpoint_time("2026-01-31T12:00:00Z");
  Summarize(true, 1, kNow, status);
  EXPECT_EQ(Said(status, kCheckpointed), "True CheckpointWritten");
  EXPECT_NE(MessageOf(status, kCheckpointed).find("2026-01-31T12:00:00Z"), std::string::npos);
}

TEST(StatusSummary, Reason_IsThatOfWhatMattersMost) {
  JobStatus status = Running(3);
  Put("Created", true, "JobCreated", status);
  Put("Running", false, "ReplicasPending", status);
  Summarize(false, 1, kNow, status);
  EXPECT_EQ(status.reason(), "ReplicasPending");
  Put("Running", true, "ReplicasRunning", status);
  Put("Restarting", false, "NoRestart", status);
  Put("Blocked", false, "ReplicasStart", status);
  Summarize(false, 1, kNow, status);
  EXPECT_EQ(status.reason(), "ReplicasRunning");
  Put("Restarting", true, "ReplicasRestarting", status);
  Summarize(false, 1, kNow, status);
  EXPECT_EQ(status.reason(), "ReplicasRestarting");
  Put("Blocked", true, "ImagePullBackOff", status);
  Summarize(false, 1, kNow, status);
  EXPECT_EQ(status.reason(), "ImagePullBackOff");
  SetInvalidSpec("spec.x: is wrong", 2, kNow, status);
  EXPECT_EQ(status.reason(), "InvalidSpec");
  EXPECT_EQ(Said(status, "Accepted"), "False InvalidSpec");
  status.set_phase(JobStatus::Failed);
  Put("Failed", true, "BackoffLimitExceeded", status);
  Summarize(false, 1, kNow, status);
  EXPECT_EQ(status.reason(), "BackoffLimitExceeded");
}

}  // namespace
}  // namespace pstrain::job
