#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/operator/job/reconciler_fixture.h"

namespace pstrain::job {
namespace {

using pstrain::testing::StatusBody;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

/// The first container of a role's template.
Json& ContainerOf(Json& job, std::string_view role) {
  Json& spec = At(job, {"spec", "replicaSpecs", role, "template", "spec"});
  return spec.FindMutable("containers")->mutable_items().front();
}

void SetTypo(Json& job) { ContainerOf(job, "worker").Set("imagee", Json::String("x")); }

/// Templates that no pod can be made of.
class TemplateTest : public ::testing::Test {
 protected:
  TemplateTest() { fixture_.server().KnowNoField("imagee"); }
  int Tried() { return fixture_.CallsOf("dryRun=All&fieldValidation=Strict"); }

  ReconcilerFixture fixture_;
};

TEST_F(TemplateTest, ATypo_MakesNothingAndIsSaidOnceWithItsField) {
  fixture_.PutJob(SetTypo);
  fixture_.RunFor(seconds(300));
  EXPECT_EQ(fixture_.ConditionOf("Accepted"), "False");
  EXPECT_THAT(fixture_.MessageOf("Accepted"),
              HasSubstr("InvalidTemplate: "
                        "spec.replicaSpecs.worker.template.spec.containers[0].imagee: Pod in "
                        "version \"v1\" cannot be handled as a Pod: strict decoding error: unknown "
                        "field \"spec.containers[0].imagee\"; correct the template"));
  EXPECT_EQ(fixture_.ConditionOf("Blocked"), "");
  EXPECT_THAT(fixture_.PodNames(), IsEmpty());
  EXPECT_THAT(fixture_.server().All(kube::ServiceResource()), IsEmpty());
  EXPECT_THAT(fixture_.server().All(kube::ConfigMapResource()), IsEmpty());
  EXPECT_LE(fixture_.Calls(), 10) << "in five minutes";
  EXPECT_THAT(fixture_.FinishEvents(), ElementsAre("InvalidTemplate"));
}

TEST_F(TemplateTest, WhenTheTypoIsCorrected_TheJobStartsImmediately) {
  fixture_.PutJob(SetTypo);
  fixture_.RunFor(seconds(15));
  fixture_.EditJob(
      [](Json& job) { ContainerOf(job, "worker") = *ParseJson(R"({"name": "c", "image": "m"})"); });
  fixture_.Settle();
  EXPECT_EQ(fixture_.PodNames().size(), 4U);
  EXPECT_EQ(fixture_.ConditionOf("Accepted"), "True");
}

TEST_F(TemplateTest, WhenTheOperatorRestarts_TheConditionStaysAndNothingIsSaidAgain) {
  fixture_.PutJob(SetTypo);
  fixture_.Settle();
  const int events = static_cast<int>(fixture_.FinishEvents().size());
  fixture_.RestartOperator();
  const int writes = fixture_.CallsOf("PATCH");
  fixture_.Settle();
  EXPECT_EQ(fixture_.ConditionOf("Accepted"), "False");
  EXPECT_EQ(fixture_.CallsOf("PATCH"), writes);
  EXPECT_EQ(static_cast<int>(fixture_.FinishEvents().size()), events);
}

TEST_F(TemplateTest, WhatTheServerFindsInvalid_IsNamedByItsCause) {
  const std::string body = R"({"kind": "Status", "code": 422, "reason": "Invalid",
      "message": "Pod \"byo-chief-0\" is invalid: spec.containers[0].image: Required value",
      "details": {"causes": [{"reason": "FieldValueRequired", "message": "Required value",
                              "field": "spec.containers[0].image"}]}})";
  fixture_.server().FailNext("dryRun=All", {422, body, {}}, 1);
  fixture_.PutJob();
  fixture_.Settle();
  EXPECT_THAT(fixture_.MessageOf("Accepted"),
              HasSubstr("spec.replicaSpecs.chief.template.spec.containers[0].image: Pod "
                        "\"byo-chief-0\" is invalid"));
  EXPECT_THAT(fixture_.PodNames(), IsEmpty());
}

TEST_F(TemplateTest, EachTemplate_IsTriedOnce) {
  fixture_.StartJob([](Json& job) { ContainerOf(job, "worker").Set("image", Json::String("w")); });
  const int before = Tried();
  EXPECT_EQ(before, 2) << "those of chief and ps are equal";
  fixture_.EndPod("byo-worker-0", 1);
  fixture_.RemovePod("byo-ps-0");
  fixture_.RunFor(seconds(5));
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-worker-0-1"));
  EXPECT_EQ(Tried(), before);
  EXPECT_EQ(fixture_.ConditionOf("Accepted"), "");
}

TEST_F(TemplateTest, PodsAreMadeWithStrictValidation) {
  fixture_.PutJob();
  fixture_.Settle();
  EXPECT_EQ(fixture_.CallsOf("POST /api/v1/namespaces/ml/pods?fieldValidation=Strict"), 4);
}

TEST_F(TemplateTest, WhereAWebhookForbidsDryRuns_TheRealCreateTells) {
  fixture_.server().FailNext(
      "dryRun=All",
      {400, StatusBody(400, "BadRequest", "admission webhook \"w\" does not support dry run"), {}},
      1'000'000);
  fixture_.StartJob();
  EXPECT_EQ(fixture_.PodNames().size(), 4U);
  fixture_.EditJob(SetTypo);
  fixture_.EndPod("byo-worker-0", 1);
  fixture_.RunFor(seconds(5));
  EXPECT_THAT(fixture_.MessageOf("Accepted"), HasSubstr("unknown field"));
}

TEST_F(TemplateTest, ATypoInARunningJob_KeepsOnlyItsOwnRoleFromBeingReplaced) {
  fixture_.StartJob();
  fixture_.EditJob(SetTypo);
  fixture_.RemovePod("byo-worker-0");
  fixture_.RemovePod("byo-ps-0");
  fixture_.RunFor(seconds(5));
  EXPECT_EQ(fixture_.ConditionOf("Accepted"), "False");
  EXPECT_THAT(fixture_.PodNames(), Contains("byo-ps-0-1"));
  EXPECT_THAT(fixture_.PodNames(), Not(Contains("byo-worker-0-1")));
}

TEST_F(TemplateTest, AQuota_IsFoundOutBeforeAnythingIsMade) {
  fixture_.server().FailNext(
      "dryRun=All", {403, StatusBody(403, "Forbidden", "exceeded quota: q"), {}}, 1'000'000);
  fixture_.PutJob();
  fixture_.RunFor(seconds(60));
  EXPECT_THAT(fixture_.MessageOf("Blocked"), HasSubstr("QuotaExceeded: "));
  EXPECT_EQ(fixture_.ConditionOf("Accepted"), "");
  EXPECT_THAT(fixture_.server().All(kube::ServiceResource()), IsEmpty());
}

}  // namespace
}  // namespace pstrain::job
