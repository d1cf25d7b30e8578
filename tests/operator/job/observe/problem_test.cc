#include "operator/job/observe/problem.h"

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
  EXPECT_EQ(hint("configmap \"settings\" not found"),
            "create the ConfigMap or Secret that the template names");
  EXPECT_EQ(hint("secret \"key\" not found"),
            "create the ConfigMap or Secret that the template names");
  EXPECT_EQ(hint("couldn't find key a in ConfigMap ml/settings"),
            "add that key to the ConfigMap or Secret that the template names");
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
PodView Decoded(const std::string& status) {
  const auto pod = ParseJson(R"({"metadata":{"name":"adult-worker-0","uid":"u","labels":{
      "pstrain.dev/job-name":"adult","pstrain.dev/replica-type":"worker",
      "pstrain.dev/replica-index":"0","pstrain.dev/attempt":"0"}},
      "spec":{"containers":[{"name":"training"},{"name":"log"}]},"status":)" +
                             status + "}");
  EXPECT_TRUE(pod.ok()) << pod.status().message();
  const auto view = DecodePod(*pod);
  EXPECT_TRUE(view.ok()) << view.status().message();
  return view.ok() ? *view : PodView();
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

TEST(ProblemOf, ARunningOrLeavingPod_IsNone) {
  PodView pod = Pending();
  pod.container.waiting_reason = "ErrImagePull";
  pod.deleted = kCreated;
  EXPECT_FALSE(ProblemOf(pod, kCreated).has_value());
  pod.deleted.reset();
  pod.phase = "Running";
  EXPECT_FALSE(ProblemOf(pod, kCreated).has_value());
}

TEST(ProblemOfRefusedCreate, TellsQuotaFromPodSecurityFromRbac) {
  const auto reason = [](const Status& status) {
    kube::ApiError error;
    error.status = status;
    return ProblemOfRefusedCreate("pod a", error).reason;
  };
  EXPECT_EQ(reason(PermissionDeniedError("pods \"a\" is forbidden: exceeded quota: q")),
            "QuotaExceeded");
  EXPECT_EQ(reason(PermissionDeniedError("violates PodSecurity \"restricted:latest\"")),
            "PodSecurityViolation");
  EXPECT_EQ(reason(PermissionDeniedError("User cannot create")), "CreateForbidden");
  EXPECT_EQ(reason(InvalidArgumentError("spec.x: Invalid value")), "CreateFailed");
  EXPECT_EQ(reason(InternalError("boom")), "CreateFailed");
}

TEST(ProblemOfRefusedPod, AnInvalidOne_NamesTheFieldOfTheTemplate) {
  kube::ApiError error;
  error.status = InvalidArgumentError("HTTP 400");
  error.message = "strict decoding error: unknown field \"spec.nodeSelectr\"";
  Problem problem = ProblemOfRefusedPod(plan::Role::kPs, "a", error);
  EXPECT_EQ(problem.reason, "InvalidTemplate");
  EXPECT_EQ(problem.message,
            "spec.replicaSpecs.ps.template.spec.nodeSelectr: strict decoding error: unknown field "
            "\"spec.nodeSelectr\"; correct the template");
  error.message = "json: cannot unmarshal string into Go struct field";
  problem = ProblemOfRefusedPod(plan::Role::kPs, "a", error);
  EXPECT_EQ(problem.message,
            "spec.replicaSpecs.ps.template: json: cannot unmarshal string into Go struct field; "
            "correct the template");
  error.causes = {{"FieldValueInvalid", "too long", "spec.x"}, {"", "", "spec.y"}};
  EXPECT_THAT(ProblemOfRefusedPod(plan::Role::kPs, "a", error).message,
              ::testing::StartsWith("spec.replicaSpecs.ps.template.spec.x: json"));
  error.status = PermissionDeniedError("exceeded quota: q");
  error.message = "exceeded quota: q";
  problem = ProblemOfRefusedPod(plan::Role::kPs, "a", error);
  EXPECT_EQ(problem.reason, "QuotaExceeded");
  EXPECT_THAT(problem.message, ::testing::StartsWith("Pod a: "));
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
