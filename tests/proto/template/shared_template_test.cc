#include "proto/template/shared_template.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/contract/replica_specs.h"
#include "proto/contract/roles.h"

namespace pstrain {
namespace {

constexpr std::string_view kHead =
    R"({"apiVersion": "pstrain.dev/v1alpha1", "kind": "PSTrainingJob", "metadata": {"name": "own"},
        "spec": {"template": )";

ManifestReading Read(const std::string& shared, const std::string& workers, bool warn = false) {
  return ReadJobManifestAll(std::string(kHead) + shared +
                                R"(, "replicaSpecs": {"ps": {}, "worker": {"template": )" +
                                workers + "}}}}",
                            {.warn = warn});
}

/// What the workers' template is with these two as `spec`.
std::string Merged(const std::string& shared, const std::string& own) {
  const ManifestReading reading = Read(R"({"spec": )" + shared + "}", R"({"spec": )" + own + "}");
  if (!reading.ok()) return reading.errors.front().path + ": " + reading.errors.front().message;
  const auto pod = ParseJson(reading.job.spec().replica_specs().worker().template_());
  return pod.ok() ? WriteJson(*pod->Find("spec")) : pod.status().message();
}

TEST(SharedTemplate, WhenRead_IsThatOfEachRoleWithoutOne) {
  const ManifestReading reading = Read(R"({"spec":{"nodeName":"n1"}})", R"({"spec":{}})");
  ASSERT_TRUE(reading.ok());
  EXPECT_TRUE(reading.job.spec().template_().empty());
  for (const Role role : {Role::kChief, Role::kPs, Role::kWorker}) {
    EXPECT_EQ(FindReplicaSpec(reading.job.spec(), role)->template_(),
              R"({"spec":{"nodeName":"n1"}})");
  }
  EXPECT_EQ(FindReplicaSpec(reading.job.spec(), Role::kEvaluator), nullptr);
}

TEST(SharedTemplate, ObjectsAndValues_AreMergedMemberByMember) {
  EXPECT_EQ(Merged(R"({"nodeSelector":{"a":"1","b":"2"},"priorityClassName":"low"})",
                   R"({"nodeSelector":{"b":"3","c":"4"},"priorityClassName":"high"})"),
            R"({"nodeSelector":{"a":"1","b":"3","c":"4"},"priorityClassName":"high"})");
  EXPECT_EQ(Merged(R"({"nodeSelector":{"a":"1","b":"2"},"nodeName":"n"})",
                   R"({"nodeSelector":{"a":null},"nodeName":null})"),
            R"({"nodeSelector":{"b":"2"}})");
}

TEST(SharedTemplate, Containers_AreMergedByNameAndOthersFollow) {
  EXPECT_EQ(Merged(R"({"containers":[{"name":"training","image":"a","args":["x"]}]})",
                   R"({"containers":[{"name":"log","image":"l"},
                                     {"name":"training","image":"b","args":["y","z"]}]})"),
            R"({"containers":[{"name":"training","image":"b","args":["y","z"]},)"
            R"({"name":"log","image":"l"}]})");
}

TEST(SharedTemplate, MountsAndPorts_AreMergedByPathAndNumber) {
  EXPECT_EQ(
      Merged(R"({"containers":[{"name":"t","volumeMounts":[{"name":"d","mountPath":"/d"}],
                 "ports":[{"containerPort":1}]}]})",
             R"({"containers":[{"name":"t","volumeMounts":[{"mountPath":"/d","readOnly":true},
                 {"name":"c","mountPath":"/c"}],"ports":[{"containerPort":1,"name":"one"}]}]})"),
      R"({"containers":[{"name":"t","volumeMounts":[{"name":"d","mountPath":"/d","readOnly":true},)"
      R"({"name":"c","mountPath":"/c"}],"ports":[{"containerPort":1,"name":"one"}]}]})");
}

// Two sources of one volume, or of one variable, are what Kubernetes refuses.
TEST(SharedTemplate, VolumesAndVariables_ReplaceThoseOfTheSameName) {
  EXPECT_EQ(Merged(R"({"volumes":[{"name":"a","emptyDir":{}},{"name":"b","emptyDir":{}}]})",
                   R"({"volumes":[{"name":"a","configMap":{"name":"m"}}]})"),
            R"({"volumes":[{"name":"a","configMap":{"name":"m"}},{"name":"b","emptyDir":{}}]})");
  EXPECT_EQ(
      Merged(R"({"containers":[{"name":"t","env":[{"name":"A","value":"1"}]}]})",
             R"({"containers":[{"name":"t","env":[{"name":"A","valueFrom":{"fieldRef":{}}}]}]})"),
      R"({"containers":[{"name":"t","env":[{"name":"A","valueFrom":{"fieldRef":{}}}]}]})");
}

TEST(SharedTemplate, OtherLists_AreTheRolesOwn) {
  EXPECT_EQ(Merged(R"({"tolerations":[{"key":"a"}]})", R"({"tolerations":[{"key":"b"}]})"),
            R"({"tolerations":[{"key":"b"}]})");
  EXPECT_EQ(Merged(R"({"containers":[{"image":"a"}]})", "{}"), R"({"containers":[{"image":"a"}]})")
      << "what nothing is merged with needs no name";
}

TEST(SharedTemplate, WhatCannotBeMerged_IsNamedWhereTheRoleHasIt) {
  const std::string worker = "spec.replicaSpecs.worker.template.spec.";
  EXPECT_EQ(Merged(R"({"containers":[{"name":"t"}]})", R"({"containers":[{"image":"a"}]})"),
            worker +
                "containers[0]: has no name, by which it would be merged with the list of "
                "spec.template; set it");
  EXPECT_EQ(Merged(R"({"affinity":{}})", R"({"affinity":"none"})"),
            worker +
                "affinity: is a single value, and an object in spec.template; write both "
                "alike, or remove one of them");
  EXPECT_EQ(Merged(R"({"hostAliases":[{"ip":"::1"}]})", R"({"hostAliases":{}})"),
            worker +
                "hostAliases: is an object, and a list in spec.template; write both alike, "
                "or remove one of them");
}

TEST(SharedTemplate, WhatPstrainSets_IsRefusedAtItsPlace) {
  EXPECT_EQ(Merged(R"({"containers":[{"name":"t","env":[{"name":"TF_CONFIG"}]}]})", "{}"),
            "spec.template.spec.containers[0].env[0]: sets TF_CONFIG, which pstrain sets itself; "
            "remove it");
  EXPECT_EQ(Merged(R"({"terminationGracePeriodSeconds":-1})", "{}"),
            "spec.template.spec.terminationGracePeriodSeconds: must be an integer from 0 to 86400; "
            "found -1");
}

TEST(SharedTemplate, UnknownFields_AreWarnedOfWhereTheyStand) {
  const ManifestReading reading =
      Read(R"({"spec":{"nodeSelektor":{}}})", R"({"spec":{"nodename":"x"}})", true);
  ASSERT_TRUE(reading.ok());
  ASSERT_EQ(reading.warnings.size(), 2U);
  EXPECT_EQ(reading.warnings[0].path, "spec.replicaSpecs.worker.template.spec.nodename");
  EXPECT_EQ(reading.warnings[1].path, "spec.template.spec.nodeSelektor");
}

TEST(SharedTemplate, WhenTheJobIsWrittenAndReadAgain_IsMergedAsBefore) {
  const ManifestReading reading = Read(R"({"spec":{"containers":[{"name":"t","image":"a"}]}})",
                                       R"({"spec":{"containers":[{"name":"t","command":["b"]}]}})");
  ASSERT_TRUE(reading.ok());
  const auto again = ReadJobManifest(WriteJobManifest(reading.job));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(WriteJobManifest(*again), WriteJobManifest(reading.job));
}

}  // namespace
}  // namespace pstrain
