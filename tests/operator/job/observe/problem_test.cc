#include "operator/job/observe/problem.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(reason(InvalidArgumentError("spec.x: Invalid value")), "InvalidTemplate");
  EXPECT_EQ(reason(InternalError("boom")), "CreateFailed");
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
