#include "operator/job/observe/problem/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace pstrain::job {
namespace {

using std::chrono::seconds;
constexpr plan::Time kCreated{seconds(1000)};

PodView Pending() {
  PodView pod;
  pod.name = "adult-worker-0";
  pod.phase = "Pending";
  pod.created = kCreated;
  return pod;
}

TEST(ProblemOf, AnUnpullableImage_NamesPodAndHint) {
  PodView pod = Pending();
  pod.container.waiting_reason = "ErrImageNeverPull";
  pod.container.waiting_message = "image x is not present";
  const auto problem = ProblemOf(pod, kCreated);
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->reason, "ErrImageNeverPull");
  EXPECT_EQ(problem->message,
            "pod adult-worker-0: ErrImageNeverPull: image x is not present; load the image on the "
            "nodes or change imagePullPolicy");
}

PodView WithConfigError(const std::string& message) {
  PodView pod = Pending();
  pod.container.waiting_reason = "CreateContainerConfigError";
  pod.container.waiting_message = message;
  return pod;
}

TEST(ProblemOf, AContainerThatCannotBeConfigured_SaysWhatHelpsThere) {
  const auto hint = [](const std::string& message) {
    const std::string said = ProblemOf(WithConfigError(message), kCreated)->message;
    return said.substr(said.rfind("; ") + 2);
  };
  EXPECT_NE(hint("container has runAsNonRoot and image will run as root (pod: \"a\")")
                .find("the image runs as root: set securityContext.runAsUser"),
            std::string::npos);
  EXPECT_NE(hint("container's runAsUser breaks non-root policy (pod: \"a\")")
                .find("runAsUser of the template to another number than 0"),
            std::string::npos);
  EXPECT_EQ(hint("container has runAsNonRoot and image has non-numeric user (train), cannot "
                 "verify user is non-root"),
            "set securityContext.runAsUser of the template to the number of that user");
  EXPECT_EQ(hint("configmap \"settings\" not found"),
            "create the ConfigMap that the template names");
  EXPECT_EQ(hint("secret \"key\" not found"), "create the Secret that the template names");
  EXPECT_EQ(hint("couldn't find key a in ConfigMap ml/settings"),
            "add that key to the ConfigMap, or correct the key in the template");
  EXPECT_EQ(hint("couldn't find key a in Secret ml/key"),
            "add that key to the Secret, or correct the key in the template");
  EXPECT_EQ(hint("something new"), "correct what it names in the container of the template");
}

std::string Unscheduled(const std::string& reason, const std::string& message) {
  PodView pod = Pending();
  pod.unscheduled_reason = reason;
  pod.unscheduled_message = message;
  const auto problem = ProblemOf(pod, kCreated);
  return problem ? problem->reason + "|" + problem->message : "";
}

TEST(ProblemOf, APodThatTheSchedulerLeavesAlone_SaysWhoseTurnItIs) {
  EXPECT_EQ(Unscheduled("SchedulingGated", "non-empty scheduling gates"),
            "SchedulingGated|pod adult-worker-0: non-empty scheduling gates; whoever set the gates "
            "removes them: a queue such as Kueue when there is room; without one, remove "
            "schedulingGates from the template");
  EXPECT_EQ(Unscheduled("SchedulerError", "binding rejected"),
            "SchedulerError|pod adult-worker-0: binding rejected; the scheduler tries again by "
            "itself; its log says more");
  EXPECT_EQ(Unscheduled("", ""), "");
}

/// As the apiserver shows it: the program has not run.
PodView Decoded(const std::string& status, const std::string& spec = "") {
  const auto pod = ParseJson(R"({"metadata":{"name":"adult-worker-0","uid":"u","labels":{
      "pstrain.dev/job-name":"adult","pstrain.dev/replica-type":"worker",
      "pstrain.dev/replica-index":"0","pstrain.dev/attempt":"0"}},
      "spec":{)" + spec + R"("nodeName":"n1","containers":[{"name":"training"},{"name":"log"}],
      "initContainers":[{"name":"fetch"},{"name":"proxy","restartPolicy":"Always"}]},"status":)" +
                             status + "}");
  EXPECT_TRUE(pod.ok()) << pod.status().message();
  const auto view = DecodePod(*pod);
  EXPECT_TRUE(view.ok()) << view.status().message();
  return view.ok() ? *view : PodView();
}
TEST(ProblemOf, AGatedPod_NamesItsGates) {
  const std::string status = R"({"phase":"Pending","conditions":[{"type":"PodScheduled",
      "status":"False","reason":"SchedulingGated",
      "message":"Scheduling is blocked due to non-empty scheduling gates"}]})";
  const auto said = [&status](const std::string& gates) {
    return ProblemOf(Decoded(status, R"("schedulingGates":)" + gates + ","), kCreated)->message;
  };
  EXPECT_EQ(said(R"([{"name":"example.com/a"},{"name":"example.com/b"}])"),
            "pod adult-worker-0: Scheduling is blocked due to non-empty scheduling gates: "
            "example.com/a, example.com/b; whoever set the gates removes them: a queue such as "
            "Kueue when there is room; without one, remove schedulingGates from the template");
  EXPECT_THAT(said(R"([{"name":"kueue.x-k8s.io/admission"}])"),
              testing::HasSubstr("`kubectl get workloads` says where the job stands"));
}

TEST(ProblemOf, AVolumeThatIsNotMade_NamesTheClaims) {
  const auto said = [](const std::string& reason, const std::string& message) {
    const auto problem = ProblemOf(
        Decoded(R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",
                "reason":")" +
                    reason + R"(","message":")" + message + R"("}]})",
                R"("volumes":[{"name":"d","persistentVolumeClaim":{"claimName":"data"}},
                   {"name":"tmp","ephemeral":{}},{"name":"job","configMap":{"name":"x"}}],)"),
        kCreated);
    return problem ? problem->reason + "|" + problem->message : "";
  };
  EXPECT_EQ(said("SchedulerError",
                 R"(running PreBind plugin \"VolumeBinding\": binding volumes: provisioning )"
                 R"(failed for PVC \"data\")"),
            "ProvisioningFailed|pod adult-worker-0: running PreBind plugin \"VolumeBinding\": "
            "binding volumes: provisioning failed for PVC \"data\"; `kubectl describe pvc data, "
            "adult-worker-0-tmp` has the provisioner's words; correct what they name: the storage "
            "class, the size, the access mode or a quota");
  EXPECT_THAT(said("SchedulerError", "binding volumes: context deadline exceeded"),
              testing::HasSubstr("`kubectl describe pvc data, adult-worker-0-tmp` says"));
  EXPECT_THAT(said("Unschedulable",
                   "0/1 nodes are available: pod has unbound immediate "
                   "PersistentVolumeClaims."),
              testing::HasSubstr("`kubectl describe pvc data, adult-worker-0-tmp` says"));
}

constexpr char kInitFailed[] = R"({"phase":"Failed",
  "initContainerStatuses":[{"name":"fetch","state":{"terminated":{"exitCode":7}}}],
  "containerStatuses":[{"name":"training","state":{"waiting":{"reason":"PodInitializing"}}}]})";

TEST(ProblemOf, AFailedInitContainer_NamesItAndItsLog) {
  const auto problem = ProblemOf(Decoded(kInitFailed), kCreated);
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->reason, "InitContainerFailed");
  EXPECT_EQ(problem->message,
            "pod adult-worker-0: init container fetch exited with code 7; `kubectl logs "
            "adult-worker-0 -c fetch` says why; correct it in the template's initContainers");
}

std::string InitEndedWith(const std::string& terminated) {
  const auto problem = ProblemOf(Decoded(R"({"phase":"Failed","initContainerStatuses":[
      {"name":"proxy","state":{"terminated":{"exitCode":143,"reason":"Error"}}},
      {"name":"fetch","state":{"terminated":)" +
                                         terminated + R"(}}],
      "containerStatuses":[{"name":"training","state":{"waiting":{"reason":"PodInitializing"}}}]})"),
                                 kCreated);
  return problem ? problem->reason + "|" + problem->message : "";
}

TEST(ProblemOf, AFailedInitContainer_HasItsLastLineAndWhatHelpsThere) {
  EXPECT_EQ(InitEndedWith(R"({"exitCode":7,"reason":"Error","message":"resolving\nno route\n"})"),
            "InitContainerFailed|pod adult-worker-0: init container fetch exited with code 7: no "
            "route; `kubectl logs adult-worker-0 -c fetch` says why; correct it in the template's "
            "initContainers");
  EXPECT_EQ(InitEndedWith(R"({"exitCode":137,"reason":"OOMKilled"})"),
            "InitContainerFailed|pod adult-worker-0: init container fetch exited with code 137, "
            "OOMKilled; raise the memory limit of fetch in the template's initContainers");
  EXPECT_EQ(
      InitEndedWith(R"({"exitCode":128,"reason":"StartError","message":"exec: no such file"})"),
      "InitContainerFailed|pod adult-worker-0: init container fetch exited with code 128, "
      "StartError: exec: no such file; correct the command or the image of fetch in the "
      "template's initContainers");
}

TEST(ProblemOf, ASidecarThatEndsAgainAndAgain_SaysHowItEnds) {
  const auto said = [](const std::string& pause) {
    const auto problem =
        ProblemOf(Decoded(R"({"phase":"Pending","initContainerStatuses":[{"name":"proxy",
            "state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off )" +
                          pause +
                          R"( restarting failed container"}},
            "lastState":{"terminated":{"exitCode":3}}}]})"),
                  kCreated);
    return problem ? problem->reason + "|" + problem->message : "";
  };
  EXPECT_EQ(said("10s"),
            "CrashLoopBackOff|pod adult-worker-0: container proxy exited with code 3 and is "
            "started again and again; `kubectl logs adult-worker-0 -c proxy --previous` says why; "
            "correct it in the template's initContainers");
  EXPECT_EQ(said("10s"), said("5m0s")) << "a write for each pause";
}

/// What is said of a pod that the kubelet has failed before its program ran.
std::string Refused(const std::string& reason, const std::string& message) {
  const auto problem = ProblemOf(
      Decoded(R"({"phase":"Failed","reason":")" + reason + R"(","message":")" + message + R"("})"),
      kCreated);
  return problem ? problem->reason + "|" + problem->message : "";
}

TEST(ProblemOf, APodThatTheKubeletRefuses_SaysWhichNodeAndWhatHelps) {
  EXPECT_EQ(Refused("OutOfcpu", "Pod was rejected: Node didn't have enough resource: cpu"),
            "OutOfcpu|pod adult-worker-0: OutOfcpu on node n1: Pod was rejected: Node didn't have "
            "enough resource: cpu; remove nodeName from the template, so that the scheduler "
            "chooses a node, or ask for less; it is tried again");
  EXPECT_THAT(Refused("TaintToleration", "m"), testing::HasSubstr("tolerate the taint"));
  EXPECT_THAT(Refused("NodeAffinity", "m"), testing::HasSubstr("choose a node that fits"));
  EXPECT_THAT(Refused("Evicted", "The node had condition: [DiskPressure]."),
              testing::HasSubstr("free the node"));
  EXPECT_THAT(Refused("NodeShutdown", "m"), testing::HasSubstr("on another node"));
  EXPECT_THAT(Refused("DeadlineExceeded", "m"), testing::HasSubstr("activeDeadlineSeconds"));
  EXPECT_THAT(Refused("SomethingNew", "m"), testing::StartsWith("SomethingNew|"));
}

TEST(ProblemOf, LongWordsOfKubernetes_LeaveRoomForTheWayOut) {
  JobStatus status;
  SetBlockedCondition(
      ProblemOf(WithConfigError("runAsNonRoot " + std::string(4000, 'x')), kCreated), 1, kCreated,
      status);
  EXPECT_THAT(status.conditions(0).message(), testing::HasSubstr("set securityContext.runAsUser"));
}

TEST(ProblemOf, AnImageThatCannotBePulled_SaysWhatHelpsThere) {
  const auto hint = [](const std::string& message) {
    PodView pod = Pending();
    pod.container.waiting_reason = "ErrImagePull";
    pod.container.waiting_message = message;
    const auto problem = ProblemOf(pod, kCreated);
    EXPECT_EQ(problem->reason, "ImagePullBackOff");
    return problem->message.substr(problem->message.rfind("; ") + 2);
  };
  EXPECT_THAT(hint("pull access denied, authorization failed"),
              testing::HasSubstr("imagePullSecret that its registry accepts"));
  EXPECT_THAT(hint("no match for platform in manifest: not found"),
              testing::HasSubstr("architecture"));
  EXPECT_THAT(hint("registry.example/x:1: not found"), testing::HasSubstr("name or tag"));
  EXPECT_THAT(hint("dial tcp 127.0.0.1:443: connect: connection refused"),
              testing::HasSubstr("they do not reach its registry"));
  EXPECT_EQ(hint(""), "name an image that the nodes can pull, or an imagePullSecret");
}

TEST(ProblemOf, AnImageThatAnInitContainerCannotPull_NamesTheContainer) {
  const auto problem = ProblemOf(Decoded(R"({"phase":"Pending",
    "initContainerStatuses":[{"name":"fetch","state":{"waiting":{"reason":"ErrImagePull"}}}],
    "containerStatuses":[{"name":"training","state":{"waiting":{"reason":"PodInitializing"}}}]})"),
                                 kCreated);
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->reason, "ImagePullBackOff");
  EXPECT_NE(problem->message.find("container fetch: ErrImagePull"), std::string::npos);
}

PodView CouldNotStart(const std::string& message) {
  return Decoded(R"({"phase":"Failed","containerStatuses":[{"name":"training","state":{
    "terminated":{"exitCode":128,"reason":"StartError","message":")" +
                 message + R"("}}}]})");
}

TEST(ProblemOf, AProgramThatCannotBeStarted_SaysWhatToCorrect) {
  const auto problem = ProblemOf(CouldNotStart("exec failed"), kCreated);
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->reason, "StartError");
  EXPECT_EQ(problem->message,
            "pod adult-worker-0: StartError: exec failed; correct the command or the security "
            "context of the template");
  EXPECT_NE(ProblemOf(CouldNotStart("exec: \\\"pstrain-agent\\\": not found"), kCreated)
                ->message.find("the image needs pstrain-agent in its PATH"),
            std::string::npos);
}

TEST(ProblemOf, AProgramThatCannotBeStartedBesideASidecar_IsOneToo) {
  const auto problem = ProblemOf(Decoded(R"({"phase":"Running","containerStatuses":[
      {"name":"training","state":{"terminated":{"exitCode":128,"reason":"StartError",
       "message":"error mounting /data to rootfs"}}},{"name":"log","state":{"running":{}}}]})"),
                                 kCreated);
  ASSERT_TRUE(problem.has_value());
  EXPECT_THAT(problem->message, testing::HasSubstr("correct mountPath and subPath"));
}

TEST(ProblemOf, APodThatFailedOfItself_IsNone) {
  EXPECT_FALSE(ProblemOf(Decoded(R"({"phase":"Failed","containerStatuses":[{"name":"training",
    "state":{"terminated":{"exitCode":1,"reason":"Error"}}}]})"),
                         kCreated)
                   .has_value());
}

PodStore::Object Cached(PodView view, std::int32_t attempt) {
  view.attempt = attempt;
  return std::make_shared<const kube::Cached<PodView>>(kube::Cached<PodView>{{}, view});
}

TEST(FirstProblemOf, AFailedAttempt_CountsUntilTheProgramOfALaterOneRuns) {
  PodView later = Decoded(R"({"phase":"Pending"})");
  const PodStore::Object failed = Cached(Decoded(kInitFailed), 0);
  EXPECT_TRUE(FirstProblemOf({failed, Cached(later, 1)}, kCreated).has_value());
  later.container.running = true;
  EXPECT_FALSE(FirstProblemOf({failed, Cached(later, 1)}, kCreated).has_value());
  EXPECT_TRUE(
      FirstProblemOf({Cached(later, 0), Cached(Decoded(kInitFailed), 1)}, kCreated).has_value());
}

TEST(ProblemOf, AnUnboundClaim_SaysToBindIt) {
  PodView pod = Pending();
  pod.unscheduled_reason = "Unschedulable";
  pod.unscheduled_message =
      "0/1 nodes are available: pod has unbound immediate "
      "PersistentVolumeClaims.";
  EXPECT_NE(ProblemOf(pod, kCreated)->message.find("storageClassName that exists"),
            std::string::npos);
}

TEST(ProblemOf, ASilentPod_SpeaksUpAfterAMinute) {
  PodView pod = Pending();
  pod.node = "n1";
  EXPECT_FALSE(ProblemOf(pod, kCreated + seconds(59)).has_value());
  EXPECT_EQ(NextProblemCheck(pod, kCreated + seconds(59)), kCreated + seconds(60));
  EXPECT_EQ(ProblemOf(pod, kCreated + seconds(60))->reason, "PodNotStarted");
  EXPECT_FALSE(NextProblemCheck(pod, kCreated + seconds(60)).has_value());
}

TEST(ProblemOf, APodThatWaitedForTheScheduler_HasAMinuteFromThere) {
  PodView pod = Pending();
  pod.node = "n1";
  pod.progressed = kCreated + seconds(600);
  EXPECT_FALSE(ProblemOf(pod, kCreated + seconds(659)).has_value());
  EXPECT_EQ(NextProblemCheck(pod, kCreated + seconds(601)), kCreated + seconds(660));
  EXPECT_TRUE(ProblemOf(pod, kCreated + seconds(660)).has_value());
}

/// What is said of a pod of which nothing runs a minute after it was scheduled.
std::string Silent(const std::string& containers) {
  const auto problem = ProblemOf(Decoded(R"({"phase":"Pending","conditions":[
      {"type":"PodScheduled","status":"True","lastTransitionTime":"1970-01-01T00:16:40Z"},
      {"type":"PodReadyToStartContainers","status":"True"}],)" +
                                         containers + "}"),
                                 kCreated + seconds(60));
  return problem ? problem->reason + "|" + problem->message : "";
}

TEST(ProblemOf, APodThatIsAtWorkOrWasJustNow_IsNone) {
  EXPECT_EQ(Silent(R"("initContainerStatuses":[{"name":"fetch","state":{"terminated":{
                      "exitCode":0,"finishedAt":"1970-01-01T00:17:30Z"}}}])"),
            "");
  EXPECT_EQ(Silent(R"("initContainerStatuses":[{"name":"fetch","state":{"running":{}}}])"), "");
}

TEST(ProblemOf, ASilentPod_SaysWhatIsKnown) {
  EXPECT_THAT(Silent(R"("containerStatuses":[])"),
              testing::HasSubstr("its image is still being pulled"));
  EXPECT_EQ(Silent(R"("initContainerStatuses":[{"name":"proxy","started":false,
                      "state":{"running":{}}}])"),
            "PodNotStarted|pod adult-worker-0: has not started for 60 s on node n1: container "
            "proxy runs, and its startupProbe has not succeeded; `kubectl logs adult-worker-0 -c "
            "proxy` says what it does; correct it or its startupProbe in the template's "
            "initContainers");
  EXPECT_THAT(Silent(R"("initContainerStatuses":[{"name":"proxy","started":true,
                        "state":{"running":{}}}])"),
              testing::HasSubstr("its image is still being pulled"));
}

TEST(ProblemOf, ARunningOrLeavingPod_IsNone) {
  PodView pod = Pending();
  pod.container.waiting_reason = "ErrImagePull";
  pod.deleted = kCreated;
  EXPECT_FALSE(ProblemOf(pod, kCreated).has_value());
  pod.deleted.reset();
  pod.phase = "Running";
  EXPECT_FALSE(ProblemOf(pod, kCreated).has_value());
}

TEST(SetBlockedCondition, AppearsWithTheFirstProblemAndTurnsFalseAfter) {
  JobStatus status;
  SetBlockedCondition(std::nullopt, 1, kCreated, status);
  EXPECT_EQ(status.conditions_size(), 0);
  SetBlockedCondition(Problem{"Unschedulable", "m"}, 1, kCreated, status);
  ASSERT_EQ(status.conditions_size(), 1);
  EXPECT_EQ(status.conditions(0).status(), "True");
  SetBlockedCondition(std::nullopt, 2, kCreated + seconds(5), status);
  EXPECT_EQ(status.conditions(0).status(), "False");
  EXPECT_EQ(status.conditions(0).observed_generation(), 2);
}

}  // namespace
}  // namespace pstrain::job
