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

TEST(TroubleOf, AnUnpullableImage_NamesPodAndWayOut) {
  PodView pod = Pending();
  pod.container.waiting_reason = "ErrImageNeverPull";
  pod.container.waiting_message = "image x is not present";
  const auto trouble = TroubleOf(pod, kCreated);
  ASSERT_TRUE(trouble.has_value());
  EXPECT_EQ(trouble->reason, "ErrImageNeverPull");
  EXPECT_EQ(trouble->message,
            "pod adult-worker-0: ErrImageNeverPull: image x is not present; load the image on the "
            "nodes or change imagePullPolicy");
}

TEST(TroubleOf, AnUnboundClaim_SaysToBindIt) {
  PodView pod = Pending();
  pod.unscheduled_reason = "Unschedulable";
  pod.unscheduled_message =
      "0/1 nodes are available: pod has unbound immediate "
      "PersistentVolumeClaims.";
  EXPECT_NE(TroubleOf(pod, kCreated)->message.find("storageClassName that exists"),
            std::string::npos);
}

TEST(TroubleOf, ASilentPod_SpeaksUpAfterAMinute) {
  PodView pod = Pending();
  pod.node = "n1";
  EXPECT_FALSE(TroubleOf(pod, kCreated + seconds(59)).has_value());
  EXPECT_EQ(NextLook(pod, kCreated + seconds(59)), kCreated + seconds(60));
  EXPECT_EQ(TroubleOf(pod, kCreated + seconds(60))->reason, "PodNotStarted");
  EXPECT_FALSE(NextLook(pod, kCreated + seconds(60)).has_value());
}

TEST(TroubleOf, ARunningOrLeavingPod_IsNone) {
  PodView pod = Pending();
  pod.container.waiting_reason = "ErrImagePull";
  pod.deleted = kCreated;
  EXPECT_FALSE(TroubleOf(pod, kCreated).has_value());
  pod.deleted.reset();
  pod.phase = "Running";
  EXPECT_FALSE(TroubleOf(pod, kCreated).has_value());
}

TEST(TroubleOfCreate, TellsQuotaFromPodSecurityFromRbac) {
  EXPECT_EQ(
      TroubleOfCreate("pod a", "pods \"a\" is forbidden: exceeded quota: q", true, false).reason,
      "QuotaExceeded");
  EXPECT_EQ(
      TroubleOfCreate("pod a", "violates PodSecurity \"restricted:latest\"", true, false).reason,
      "PodSecurityViolation");
  EXPECT_EQ(TroubleOfCreate("pod a", "User cannot create", true, false).reason, "CreateForbidden");
  EXPECT_EQ(TroubleOfCreate("pod a", "spec.x: Invalid value", false, true).reason,
            "InvalidTemplate");
  EXPECT_EQ(TroubleOfCreate("pod a", "boom", false, false).reason, "CreateFailed");
}

TEST(SetBlocked, AppearsWithTheFirstTroubleAndTurnsFalseAfter) {
  JobStatus status;
  SetBlocked(std::nullopt, 1, kCreated, status);
  EXPECT_EQ(status.conditions_size(), 0);
  SetBlocked(Trouble{"Unschedulable", "m"}, 1, kCreated, status);
  ASSERT_EQ(status.conditions_size(), 1);
  EXPECT_EQ(status.conditions(0).status(), "True");
  SetBlocked(std::nullopt, 2, kCreated + seconds(5), status);
  EXPECT_EQ(status.conditions(0).status(), "False");
  EXPECT_EQ(status.conditions(0).observed_generation(), 2);
}

}  // namespace
}  // namespace pstrain::job
