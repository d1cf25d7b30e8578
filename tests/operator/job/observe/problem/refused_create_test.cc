#include "operator/job/observe/problem/refused_create.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pstrain::job {
namespace {

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

TEST(ProblemOfRefusedCreate, LongWordsOfAWebhook_LeaveRoomForTheWayOut) {
  kube::ApiError error;
  error.status = PermissionDeniedError("HTTP 403");
  error.message = "admission webhook denied the request: " + std::string(3000, 'x');
  const Problem problem = ProblemOfRefusedCreate("pod a", error);
  EXPECT_LT(problem.message.size(), 1024U);
  EXPECT_THAT(problem.message, ::testing::HasSubstr("change what the admission policy refuses"));
}

}  // namespace
}  // namespace pstrain::job
