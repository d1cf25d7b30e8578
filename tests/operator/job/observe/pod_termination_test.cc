#include "operator/job/observe/pod_termination.h"

#include <gtest/gtest.h>

#include <string>

#include "base/text/json.h"
#include "operator/plan/timestamp.h"

namespace pstrain::job {
namespace {

using plan::Disruption;
using plan::ReplicaPhase;

/// A row of the truth table in operator/job/observe/pod_termination.h as the apiserver shows it.
struct Row {
  const char* name;
  bool deletion_timestamp;
  const char* status;  // JSON
  ReplicaPhase phase;
  Disruption disruption;
  const char* reason;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

std::string Terminated(int code, const char* reason) {
  return R"([{"name":"training","state":{"terminated":{"exitCode":)" + std::to_string(code) +
         R"(,"reason":")" + reason + R"(","finishedAt":"2026-01-02T03:05:00Z"}}}])";
}

Json PodWith(const Row& row) {
  std::string status = row.status;
  const auto replace = [&status](const std::string& from, const std::string& to) {
    const std::size_t at = status.find(from);
    if (at != std::string::npos) status.replace(at, from.size(), to);
  };
  replace("KILLED", Terminated(137, "Error"));
  replace("OOM", Terminated(137, "OOMKilled"));
  replace("DONE", Terminated(0, "Completed"));
  replace("DRAINED", Terminated(85, "Error"));
  replace("CRASHED", Terminated(3, "Error"));
  replace("RUNNING", R"([{"name":"training","state":{"running":{}}}])");
  const std::string deletion =
      row.deletion_timestamp ? R"("deletionTimestamp":"2026-01-02T03:04:30Z",)" : "";
  const auto pod = ParseJson(R"({"metadata":{"name":"adult-ps-1-2","namespace":"ml","uid":"u",)" +
                             deletion + R"("labels":{"pstrain.dev/job-name":"adult",
      "pstrain.dev/replica-type":"ps","pstrain.dev/replica-index":"1","pstrain.dev/attempt":"2"}},
      "spec":{"containers":[{"name":"training"},{"name":"sidecar"}]},
      "status":)" + status + "}");
  EXPECT_TRUE(pod.ok()) << pod.status().message();
  return *pod;
}

std::string Disrupted(const char* reason) {
  return std::string(R"("conditions":[{"type":"DisruptionTarget","status":"True","reason":")") +
         reason + R"("}])";
}

class PodTermination : public testing::TestWithParam<Row> {};

TEST_P(PodTermination, IsSeenAsTheTableSays) {
  const Row& row = GetParam();
  const auto view = DecodePod(PodWith(row));
  ASSERT_TRUE(view.ok()) << view.status().message();
  const plan::Replica replica = ToReplica(*view);
  EXPECT_EQ(replica.id, (plan::ReplicaId{plan::Role::kPs, 1}));
  EXPECT_EQ(replica.attempt, 2);
  EXPECT_EQ(replica.phase, row.phase);
  EXPECT_EQ(replica.terminating, row.deletion_timestamp);
  EXPECT_EQ(replica.disruption, row.disruption);
  EXPECT_EQ(replica.reason, row.reason);
}

const std::string kPreempted =
    R"({"phase":"Running","containerStatuses":RUNNING,)" + Disrupted("PreemptionByScheduler") + "}";
const std::string kTainted =
    R"({"phase":"Failed","containerStatuses":KILLED,)" + Disrupted("DeletionByTaintManager") + "}";
const std::string kEvicted =
    R"({"phase":"Failed","containerStatuses":KILLED,)" + Disrupted("EvictionByEvictionAPI") + "}";
const std::string kPressure =
    R"({"phase":"Failed","reason":"Evicted","containerStatuses":KILLED,)" +
    Disrupted("TerminationByKubelet") + "}";
const std::string kCollected =
    R"({"phase":"Running","containerStatuses":RUNNING,)" + Disrupted("DeletionByPodGC") + "}";
const std::string kUnknownDisruption =
    R"({"phase":"Failed","containerStatuses":KILLED,)" + Disrupted("SomethingNew") + "}";
const std::string kStaleCondition =
    R"({"phase":"Failed","containerStatuses":CRASHED,"conditions":[{"type":"DisruptionTarget",
        "status":"False","reason":"PreemptionByScheduler"}]})";

INSTANTIATE_TEST_SUITE_P(
    TruthTable, PodTermination,
    testing::Values(
        Row{"scheduler_preemption", true, kPreempted.c_str(), ReplicaPhase::kRunning,
            Disruption::kPreempted, "PreemptionByScheduler"},
        Row{"no_execute_taint", true, kTainted.c_str(), ReplicaPhase::kFailed, Disruption::kTainted,
            "DeletionByTaintManager"},
        Row{"drain", true, kEvicted.c_str(), ReplicaPhase::kFailed, Disruption::kEvicted,
            "EvictionByEvictionAPI"},
        Row{"node_pressure", false, kPressure.c_str(), ReplicaPhase::kFailed,
            Disruption::kNodePressure, "TerminationByKubelet"},
        Row{"node_gone", true, kCollected.c_str(), ReplicaPhase::kRunning, Disruption::kNodeLost,
            "DeletionByPodGC"},
        Row{"newer_reason", false, kUnknownDisruption.c_str(), ReplicaPhase::kFailed,
            Disruption::kEvicted, "SomethingNew"},
        Row{"ephemeral_storage_limit", false,
            R"({"phase":"Failed","reason":"Evicted","containerStatuses":KILLED})",
            ReplicaPhase::kFailed, Disruption::kNone, "Evicted"},
        Row{"memory_limit", false, R"({"phase":"Failed","containerStatuses":OOM})",
            ReplicaPhase::kFailed, Disruption::kNone, "OOMKilled"},
        Row{"node_shutdown_ignored", false,
            R"({"phase":"Failed","reason":"Terminated","containerStatuses":KILLED})",
            ReplicaPhase::kFailed, Disruption::kNodePressure, "Terminated"},
        Row{"node_shutdown_exit_0", false,
            R"({"phase":"Succeeded","reason":"Terminated","containerStatuses":DONE})",
            ReplicaPhase::kSucceeded, Disruption::kNone, "Terminated"},
        Row{"critical_pod", false, R"({"phase":"Failed","reason":"Preempting"})",
            ReplicaPhase::kFailed, Disruption::kPreempted, "Preempting"},
        Row{"admission", false, R"({"phase":"Failed","reason":"UnexpectedAdmissionError"})",
            ReplicaPhase::kFailed, Disruption::kNotAdmitted, "UnexpectedAdmissionError"},
        Row{"node_lost", true,
            R"({"phase":"Running","reason":"NodeLost","containerStatuses":RUNNING})",
            ReplicaPhase::kRunning, Disruption::kNodeLost, "NodeLost"},
        Row{"stale_condition", false, kStaleCondition.c_str(), ReplicaPhase::kFailed,
            Disruption::kNone, "Error"},
        Row{"direct_kill", false, R"({"phase":"Failed","containerStatuses":KILLED})",
            ReplicaPhase::kFailed, Disruption::kNone, "Error"},
        Row{"deleted_by_hand", true, R"({"phase":"Running","containerStatuses":RUNNING})",
            ReplicaPhase::kRunning, Disruption::kNone, ""},
        Row{"drained", false, R"({"phase":"Failed","containerStatuses":DRAINED})",
            ReplicaPhase::kFailed, Disruption::kNone, "Error"},
        Row{"finished", false, R"({"phase":"Succeeded","containerStatuses":DONE})",
            ReplicaPhase::kSucceeded, Disruption::kNone, "Completed"}),
    [](const auto& row) { return std::string(row.param.name); });

/// A pod with an injected sidecar before the training container, which the annotation names.
plan::Replica WithSidecar(const std::string& phase, const std::string& sidecar,
                          const std::string& training, bool deleted = false) {
  const std::string deletion = deleted ? R"("deletionTimestamp":"2026-01-02T03:04:30Z",)" : "";
  const auto pod = ParseJson(R"({"metadata":{"name":"adult-ps-1","namespace":"ml","uid":"u",)" +
                             deletion + R"("annotations":{"pstrain.dev/training-container":"main"},
      "labels":{"pstrain.dev/job-name":"adult","pstrain.dev/replica-type":"ps",
      "pstrain.dev/replica-index":"1","pstrain.dev/attempt":"2"}},
      "spec":{"containers":[{"name":"proxy"},{"name":"main"}]},
      "status":{"phase":")" + phase +
                             R"(","containerStatuses":[
        {"name":"proxy","state":)" +
                             sidecar + R"(},{"name":"main","state":)" + training + "}]}}");
  EXPECT_TRUE(pod.ok()) << pod.status().message();
  const auto view = DecodePod(*pod);
  EXPECT_TRUE(view.ok()) << view.status().message();
  return view.ok() ? ToReplica(*view) : plan::Replica();
}
constexpr char kRuns[] = R"({"running":{}})";
constexpr char kWaits[] = R"({"waiting":{"reason":"ImagePullBackOff"}})";
constexpr char kExit0[] = R"({"terminated":{"exitCode":0}})";
constexpr char kExit3[] = R"({"terminated":{"exitCode":3}})";

TEST(PodTermination, HasTheWordsOfWhoKnowsMost) {
  const auto end = [](const std::string& status) {
    Row row{"words", false, status.c_str(), ReplicaPhase::kFailed, Disruption::kNone, ""};
    Json pod = PodWith(row);
    pod.FindMutable("spec")->Set("nodeName", Json::String("n1"));
    return ToReplica(*DecodePod(pod));
  };
  const std::string terminated =
      R"("containerStatuses":[{"name":"training","state":{"terminated":{"exitCode":137,
      "reason":"Error","message":"{\"reason\":\"GraceExpired\",\"oom\":true,\"message\":\"m\"}"}}}])";
  const plan::Replica by_agent = end(R"({"phase":"Failed",)" + terminated + "}");
  EXPECT_EQ(by_agent.reason, "GraceExpired");
  EXPECT_TRUE(by_agent.oom);
  EXPECT_EQ(by_agent.message, "m");
  EXPECT_EQ(by_agent.node, "n1");
  const plan::Replica by_kubelet =
      end(R"({"phase":"Failed","reason":"Evicted","message":"low on disk",)" + terminated + "}");
  EXPECT_EQ(by_kubelet.reason, "Evicted");
  EXPECT_EQ(by_kubelet.message, "low on disk");
  const plan::Replica preempted = end(
      R"({"phase":"Failed","conditions":[{"type":"DisruptionTarget","status":"True",
      "reason":"PreemptionByScheduler","message":"for ml/big"}],)" +
      terminated + "}");
  EXPECT_EQ(preempted.message, "for ml/big");
  const plan::Replica plain = end(R"({"phase":"Failed","containerStatuses":[{"name":"training",
      "state":{"terminated":{"exitCode":1,"reason":"Error","message":"{broken"}}}]})");
  EXPECT_EQ(plain.reason, "Error");
  EXPECT_EQ(plain.message, "{broken");
}

TEST(PodTermination, OfAProgramThatCouldNotStart_SaysWhatToDoFirst) {
  const Row row{"start",
                false,
                R"({"phase":"Failed","containerStatuses":[{"name":"training",
      "state":{"terminated":{"exitCode":128,"reason":"StartError","message":"exec: no such file"}}}]})",
                ReplicaPhase::kFailed,
                Disruption::kNone,
                ""};
  const plan::Replica replica = ToReplica(*DecodePod(PodWith(row)));
  EXPECT_EQ(replica.reason, "StartError");
  EXPECT_EQ(replica.message,
            "correct the command or the security context of the template: exec: no such file");
}

TEST(PodTermination, OfAFailedInitContainer_IsThatContainers) {
  const Row row{"init", false, R"({"phase":"Failed",
      "initContainerStatuses":[{"name":"fetch","state":{"terminated":{"exitCode":7,
        "message":"no route"}}}],
      "containerStatuses":[{"name":"training","state":{"waiting":{"reason":"PodInitializing"}}}]})", ReplicaPhase::kFailed, Disruption::kNone, ""};
  const plan::Replica replica = ToReplica(*DecodePod(PodWith(row)));
  EXPECT_EQ(replica.phase, ReplicaPhase::kFailed);
  EXPECT_EQ(replica.disruption, Disruption::kNone);
  EXPECT_EQ(replica.reason, "InitContainerFailed");
  EXPECT_EQ(replica.exit_code, 7);
  EXPECT_EQ(replica.message, "init container fetch: no route");
}

TEST(PodTermination, WhileASidecarRunsOn_IsThatOfTheTrainingContainer) {
  const plan::Replica done = WithSidecar("Running", kRuns, kExit0);
  EXPECT_EQ(done.phase, ReplicaPhase::kSucceeded);
  EXPECT_EQ(done.rest, plan::Rest::kRuns);
  EXPECT_FALSE(done.Gone());
  const plan::Replica crashed = WithSidecar("Running", kRuns, kExit3);
  EXPECT_EQ(crashed.phase, ReplicaPhase::kFailed);
  EXPECT_EQ(crashed.exit_code, 3);
  EXPECT_EQ(crashed.rest, plan::Rest::kRuns);
  EXPECT_EQ(WithSidecar("Pending", kWaits, kExit0).rest, plan::Rest::kRuns);
}

TEST(PodTermination, OfASidecar_IsNotThatOfTheReplica) {
  EXPECT_EQ(WithSidecar("Running", kExit3, kRuns).phase, ReplicaPhase::kRunning);
  EXPECT_EQ(WithSidecar("Running", kExit0, kRuns).phase, ReplicaPhase::kRunning);
  const plan::Replica done = WithSidecar("Failed", kExit3, kExit0);
  EXPECT_EQ(done.phase, ReplicaPhase::kSucceeded);
  EXPECT_TRUE(done.Gone());
  EXPECT_EQ(WithSidecar("Failed", kExit0, kExit3).phase, ReplicaPhase::kFailed);
}

TEST(PodTermination, OfAllContainers_IsJudgedOnceTheKubeletSaysWhy) {
  const plan::Replica undecided = WithSidecar("Running", kExit0, kExit3);
  EXPECT_EQ(undecided.phase, ReplicaPhase::kRunning);
  EXPECT_FALSE(undecided.terminating);
  EXPECT_EQ(undecided.rest, plan::Rest::kNone);
  EXPECT_EQ(WithSidecar("Failed", kExit0, kExit3).phase, ReplicaPhase::kFailed);
  EXPECT_EQ(WithSidecar("Running", kExit0, kExit3, true).phase, ReplicaPhase::kFailed);
}

TEST(PodTermination, AfterSigtermOfNobody_IsAStopUntilThePodSaysWhose) {
  const char* kTold = R"({"terminated":{"exitCode":85,"finishedAt":"2026-01-02T03:05:00Z",
                          "message":"{\"told_to_stop\":true}"}})";
  const plan::Replica stopped = WithSidecar("Running", kRuns, kTold);
  EXPECT_FALSE(stopped.Ended());
  EXPECT_TRUE(stopped.terminating);
  EXPECT_EQ(stopped.rest, plan::Rest::kRuns) << "if nobody stops the pod, we do";
  const plan::Replica ended = WithSidecar("Failed", kExit0, kTold);
  EXPECT_EQ(ended.phase, ReplicaPhase::kFailed);
  EXPECT_FALSE(ended.terminating);
  // The end of the work is one whoever stops the pod.
  const char* kDone = R"({"terminated":{"exitCode":0,"message":"{\"told_to_stop\":true}"}})";
  EXPECT_EQ(WithSidecar("Running", kRuns, kDone).phase, ReplicaPhase::kSucceeded);
}

/// A pod with a sidecar of initContainers, in which the training container has ended so.
plan::Replica WithNativeSidecar(const std::string& sidecar, const std::string& terminated) {
  const auto pod = ParseJson(R"({"metadata":{"name":"adult-ps-1","namespace":"ml","uid":"u",
      "labels":{"pstrain.dev/job-name":"adult","pstrain.dev/replica-type":"ps",
      "pstrain.dev/replica-index":"1","pstrain.dev/attempt":"2"}},
      "spec":{"initContainers":[{"name":"proxy","restartPolicy":"Always"}],
              "containers":[{"name":"training"}]},
      "status":{"phase":"Running","initContainerStatuses":[{"name":"proxy","state":)" +
                             sidecar + R"(}],"containerStatuses":[{"name":"training","state":
      {"terminated":)" + terminated +
                             "}}]}}");
  EXPECT_TRUE(pod.ok()) << pod.status().message();
  const auto view = DecodePod(*pod);
  EXPECT_TRUE(view.ok()) << view.status().message();
  return view.ok() ? ToReplica(*view) : plan::Replica();
}

// The pod is Running until the kubelet has ended the sidecar: up to the whole grace period.
TEST(PodTermination, OfACrashBesideASidecarOfInitContainers_IsJudgedAtOnce) {
  const plan::Replica crashed = WithNativeSidecar(kRuns, R"({"exitCode":3,"reason":"Error"})");
  EXPECT_EQ(crashed.phase, ReplicaPhase::kFailed);
  EXPECT_FALSE(crashed.terminating);
  EXPECT_EQ(crashed.exit_code, 3);
  EXPECT_EQ(crashed.rest, plan::Rest::kStops);
  EXPECT_EQ(WithNativeSidecar(kRuns, R"({"exitCode":137,"reason":"OOMKilled"})").phase,
            ReplicaPhase::kFailed);
  EXPECT_EQ(WithNativeSidecar(kRuns, R"({"exitCode":139,"message":
      "{\"reason\":\"Signaled\",\"signal\":11,\"oom\":false}"})")
                .phase,
            ReplicaPhase::kFailed);
}

TEST(PodTermination, OfAKillBesideASidecarOfInitContainers_WaitsForTheKubeletsWords) {
  // By a kubelet that evicts the pod, for instance, with no time for the agent to say anything.
  EXPECT_EQ(WithNativeSidecar(kRuns, R"({"exitCode":137,"reason":"Error"})").phase,
            ReplicaPhase::kRunning);
  EXPECT_EQ(WithNativeSidecar(kRuns, R"({"exitCode":85,"message":
      "{\"reason\":\"Stopped\",\"told_to_stop\":true,\"oom\":false}"})")
                .phase,
            ReplicaPhase::kRunning);
  EXPECT_EQ(WithNativeSidecar(R"({"terminated":{"exitCode":0}})", R"({"exitCode":3})").phase,
            ReplicaPhase::kRunning);
}

TEST(PodTermination, WhileASidecarDoesNotStart_TheReplicaRuns) {
  EXPECT_EQ(WithSidecar("Pending", kWaits, kRuns).phase, ReplicaPhase::kRunning);
}

TEST(PodTermination, OfAPodThatStopsOrEndsByItself_LeavesNothingToStop) {
  EXPECT_EQ(WithSidecar("Running", kRuns, kExit0, true).rest, plan::Rest::kStops);
  // The kubelet ends sidecars of initContainers by itself.
  EXPECT_EQ(WithSidecar("Running", kExit0, kExit0).rest, plan::Rest::kStops);
  EXPECT_EQ(WithSidecar("Running", kRuns, kRuns).rest, plan::Rest::kNone);
}

TEST(PodTermination, KeepsTheSignal) {
  const Row row{"kill",
                false,
                R"({"phase":"Failed","containerStatuses":KILLED})",
                ReplicaPhase::kFailed,
                Disruption::kNone,
                ""};
  const plan::Replica replica = ToReplica(*DecodePod(PodWith(row)));
  EXPECT_EQ(replica.exit_code, 137);
  EXPECT_EQ(replica.signal, 9);
  ASSERT_TRUE(replica.ended.has_value());
}

/// A pod that is gone, and was last seen so.
plan::Replica Gone(const char* status, bool deleted, plan::Time now = {}) {
  const Row row{"gone", deleted, status, ReplicaPhase::kRunning, Disruption::kNone, ""};
  return ToGoneReplica(*DecodePod(PodWith(row)), now);
}

TEST(PodTermination, OfAPodThatVanishedWhileItRan_IsADisruption) {
  const plan::Time now{std::chrono::milliseconds(5000)};
  const plan::Replica replica =
      Gone(R"({"phase":"Running","containerStatuses":RUNNING})", false, now);
  EXPECT_EQ(replica.phase, ReplicaPhase::kFailed);
  EXPECT_TRUE(replica.terminating);
  EXPECT_EQ(replica.ended, now);
}

TEST(PodTermination, OfAPodThatVanishedAfterACrash_IsThatCrash) {
  const plan::Replica replica = Gone(R"({"phase":"Running","containerStatuses":CRASHED})", false);
  EXPECT_EQ(replica.phase, ReplicaPhase::kFailed);
  EXPECT_FALSE(replica.terminating);
  EXPECT_EQ(replica.exit_code, 3);
}

TEST(PodTermination, OfAPodThatVanishedAfterExitZero_IsSuccess) {
  const plan::Replica replica = Gone(R"({"phase":"Running","containerStatuses":DONE})", true);
  EXPECT_EQ(replica.phase, ReplicaPhase::kSucceeded);
  EXPECT_TRUE(replica.Gone());
}

TEST(DecodePod, WithForeignLabels_NamesTheField) {
  const auto pod = ParseJson(R"({"metadata":{"name":"x","uid":"u","labels":{}}})");
  const auto view = DecodePod(*pod);
  ASSERT_FALSE(view.ok());
  EXPECT_NE(view.status().message().find("pod x: metadata.labels"), std::string::npos);
}

TEST(ChiefTermination, HasTheCountsThatItLeftBehind) {
  PodView pod;
  pod.replica.role = plan::Role::kChief;
  pod.phase = "Succeeded";
  pod.container.terminated = true;
  pod.container.message = R"({"values": {"examples_expected": 80, "examples_committed": 80,
                                         "applied_min": 71, "applied_max": 80}})";
  const plan::Replica chief = ToReplica(pod);
  ASSERT_TRUE(chief.counts.has_value());
  EXPECT_EQ(chief.counts->applied_min, 71);
  pod.container.message.clear();
  EXPECT_FALSE(ToReplica(pod).counts.has_value());
  pod.replica.role = plan::Role::kPs;
  EXPECT_FALSE(ToReplica(pod).counts.has_value());
}

plan::Replica EndedWith(int exit_code, const std::string& message) {
  return WithSidecar("Failed", kExit0,
                     R"({"terminated":{"exitCode":)" + std::to_string(exit_code) +
                         R"(,"message":")" + message + R"("}})");
}

TEST(PodFailure, OfExit87_IsWhatTheProgramSaysOfIt) {
  const std::string words =
      R"({\"reason\":\"InvalidInput\",)"
      R"(\"failure\":{\"reason\":\"InvalidInput\",\"message\":\"no such column\"}})";
  const plan::StatedFailure failure{"InvalidInput", "no such column"};
  EXPECT_EQ(EndedWith(87, words).failure, failure);
  EXPECT_EQ(EndedWith(87, words).message, "no such column");
  EXPECT_FALSE(EndedWith(1, words).failure.has_value());
  EXPECT_FALSE(EndedWith(87, "not JSON").failure.has_value());
}

TEST(PodStart, IsTheContainersAndNotThePods) {
  const auto start = [](const char* status) {
    const auto view = DecodePod(PodWith({.name = "start",
                                         .deletion_timestamp = false,
                                         .status = status,
                                         .phase = ReplicaPhase::kRunning,
                                         .disruption = Disruption::kNone,
                                         .reason = ""}));
    return view.ok() ? ToReplica(*view).started : std::nullopt;
  };
  const plan::Time pod = *plan::ParseTimestamp("2026-01-02T03:04:00Z");
  EXPECT_EQ(start(R"({"phase":"Running","startTime":"2026-01-02T03:00:00Z","containerStatuses":
      [{"name":"training","state":{"running":{"startedAt":"2026-01-02T03:04:00Z"}}}]})"),
            pod);
  EXPECT_EQ(start(R"({"phase":"Failed","startTime":"2026-01-02T03:00:00Z","containerStatuses":
      [{"name":"training","state":{"terminated":{"exitCode":1,
        "startedAt":"2026-01-02T03:04:00Z"}}}]})"),
            pod);
  EXPECT_EQ(start(R"({"phase":"Running","startTime":"2026-01-02T03:04:00Z",
      "containerStatuses":RUNNING})"),
            pod);
  EXPECT_EQ(start(R"({"phase":"Pending","startTime":"2026-01-02T03:04:00Z"})"), std::nullopt);
  EXPECT_EQ(start(R"({"phase":"Failed","startTime":"2026-01-02T03:04:00Z","containerStatuses":
      [{"name":"training","state":{"terminated":{"exitCode":128,"reason":"StartError",
        "startedAt":"1970-01-01T00:00:00Z"}}}]})"),
            std::nullopt)
      << "it never ran: a healthy life would end the restart delay";
}

}  // namespace
}  // namespace pstrain::job
