// Every way in which a pod ends, as a kubelet writes it, to what is counted and told of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/os/files.h"
#include "base/text/json.h"
#include "operator/job/observe/pod_termination.h"
#include "operator/kube/json_fields.h"
#include "operator/plan/conditions.h"
#include "operator/plan/plan.h"
#include "operator/plan/timestamp.h"
#include "tests/testing/golden.h"

namespace pstrain::job {
namespace {

const std::string kNow = "2026-01-02T03:04:40Z";

bool IsTrue(const Json& row, std::string_view key) {
  const Json* flag = row.Find(key);
  return flag != nullptr && flag->AsBool().value_or(false);
}

/// The pod whose status the row has.
PodView PodOf(const Json& row) {
  const std::string role = row.Find("role") == nullptr ? "worker" : kube::TextOrEmpty(row, "role");
  Json pod = *ParseJson(R"({"metadata":{"name":"adult-0","namespace":"ml","uid":"u",
      "creationTimestamp":"2026-01-02T03:00:00Z",
      "annotations":{"pstrain.dev/training-container":"training"},
      "labels":{"pstrain.dev/job-name":"adult","pstrain.dev/replica-type":")" +
                        role + R"(","pstrain.dev/replica-index":"0","pstrain.dev/attempt":"0"}},
      "spec":{"nodeName":"n1","initContainers":[{"name":"fetch"},
                                                {"name":"log","restartPolicy":"Always"}],
              "containers":[{"name":"proxy"},{"name":"training"}]}})");
  if (IsTrue(row, "deleted")) {
    pod.FindMutable("metadata")->Set("deletionTimestamp", Json::String("2026-01-02T03:05:00Z"));
  }
  pod.Set("status", *row.Find("status"));
  Result<PodView> view = DecodePod(pod);
  EXPECT_TRUE(view.ok()) << view.status().message();
  return view.ok() ? *std::move(view) : PodView();
}

plan::Replica Peaceful(plan::Role role) {
  plan::Replica replica;
  replica.id = {role, 0};
  replica.phase = plan::ReplicaPhase::kRunning;
  replica.started = plan::ParseTimestamp("2026-01-02T03:00:00Z");
  return replica;
}

/// What the Plan makes of a job of which this replica ends so and the others run.
plan::PlanResult PlanWith(const plan::Replica& replica, plan::Time now) {
  plan::Snapshot snapshot;
  ReplicaSpecs& specs = *snapshot.job.mutable_spec()->mutable_replica_specs();
  specs.mutable_chief()->set_replicas(1);
  specs.mutable_ps()->set_replicas(1);
  specs.mutable_worker()->set_replicas(1);
  snapshot.job.mutable_spec()->mutable_run_policy()->set_backoff_limit(6);
  snapshot.job.mutable_spec()->mutable_training()->set_batch_size(8);
  for (const plan::Role role : {plan::Role::kChief, plan::Role::kPs, plan::Role::kWorker}) {
    snapshot.replicas.push_back(role == replica.id.role ? replica : Peaceful(role));
  }
  return plan::Plan(snapshot, now);
}

std::string VerdictOf(const plan::PlanResult& plan, const plan::ReplicaId& id) {
  if (plan.status.phase() == JobStatus::Failed) return "permanent";
  const auto& records = plan.status.restarts().replicas();
  const auto record = records.find(plan::ReplicaKey(id));
  if (record == records.end()) return "none";
  if (record->second.succeeded()) return "finished";
  if (record->second.failures() == 1 && record->second.disruptions() == 0) return "crash";
  if (record->second.failures() == 0 && record->second.disruptions() == 1) return "disruption";
  return "none";
}

/// Counts of the whole job, and the cause in the status and in the event.
void ExpectCause(const plan::PlanResult& plan, const plan::ReplicaId& id, const Json& want) {
  const std::string verdict = kube::TextOrEmpty(want, "verdict");
  const bool crash = verdict == "crash" || verdict == "permanent";
  EXPECT_EQ(plan.status.restarts().failures(), crash ? 1 : 0);
  EXPECT_EQ(plan.status.restarts().disruptions(), crash ? 0 : 1);
  ASSERT_EQ(plan.ends.size(), 1U);
  EXPECT_EQ(plan.ends[0].failure, crash);
  const AttemptEnd& end = plan.status.restarts().replicas().at(plan::ReplicaKey(id)).last_end();
  EXPECT_EQ(end.reason(), kube::TextOrEmpty(want, "reason"));
  EXPECT_EQ(end.exit_code(), kube::IntegerOrZero(want, "exitCode"));
  EXPECT_EQ(end.signal(), kube::IntegerOrZero(want, "signal"));
  EXPECT_EQ(end.oom(), IsTrue(want, "oom"));
  EXPECT_EQ(end.node(), "n1");
  EXPECT_THAT(end.message(), testing::HasSubstr(kube::TextOrEmpty(want, "message")));
  EXPECT_THAT(plan::DescribeAttemptEnd(id, end),
              testing::StartsWith(plan::ReplicaKey(id) + " on node n1: " + end.reason()));
  if (verdict == "permanent") {
    EXPECT_EQ(plan::FindCondition(plan.status, "Failed")->reason(), end.reason());
  }
}

/// Ours: no vectors that could be others'.
Json ReadPodEnds() { return ReadJsonFile(PSTRAIN_SOURCE_DIR "/tests/golden/pod_ends.json"); }

TEST(PodEnds, EachWay_HasItsVerdictCountsAndCause) {
  const Json rows = ReadPodEnds();
  const plan::Time now = *plan::ParseTimestamp(kNow);
  for (const Json& row : rows.items()) {
    SCOPED_TRACE(kube::TextOrEmpty(row, "name"));
    const PodView pod = PodOf(row);
    const plan::Replica replica = IsTrue(row, "gone") ? ToGoneReplica(pod, now) : ToReplica(pod);
    const plan::PlanResult plan = PlanWith(replica, now);
    const Json& want = *row.Find("want");
    const std::string verdict = kube::TextOrEmpty(want, "verdict");
    ASSERT_EQ(VerdictOf(plan, replica.id), verdict);
    if (verdict == "none" || verdict == "finished") {
      EXPECT_TRUE(plan.ends.empty());
      EXPECT_EQ(plan.status.restarts().failures() + plan.status.restarts().disruptions(), 0);
    } else {
      ExpectCause(plan, replica.id, want);
    }
  }
  EXPECT_GE(rows.items().size(), 60U);
}

/// The rows as docs/reference/pod-ends.md has them.
std::string Documented(const Json& rows) {
  std::string table = "| how it ends | counts as | reason | exit code |\n|---|---|---|---|\n";
  for (const Json& row : rows.items()) {
    const Json& want = *row.Find("want");
    const std::string verdict = kube::TextOrEmpty(want, "verdict");
    const std::int64_t code = kube::IntegerOrZero(want, "exitCode");
    const std::string reason = kube::TextOrEmpty(want, "reason");
    table += "| " + kube::TextOrEmpty(row, "cause") + " | " +
             (verdict == "none" ? "nothing" : verdict) + " | " +
             (reason.empty() ? "" : "`" + reason + "`") + " | " +
             (code == 0 ? "" : std::to_string(code)) + " |\n";
  }
  return table;
}

TEST(PodEnds, EachWay_IsInTheReference) {
  const Result<std::string> text = ReadFile(PSTRAIN_SOURCE_DIR "/docs/reference/pod-ends.md");
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  const std::string table = Documented(ReadPodEnds());
  EXPECT_NE(text->find(table), std::string::npos) << "the table should read\n" << table;
}

}  // namespace
}  // namespace pstrain::job
