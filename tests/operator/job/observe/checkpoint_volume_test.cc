#include "operator/job/observe/checkpoint_volume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace pstrain::job {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A template with this volume, mounted at `path`.
std::string TemplateOf(const std::string& source, const std::string& path = "/checkpoints",
                       const std::string& more = "", const std::string& mount_more = "") {
  return R"({"spec": {"containers": [{"volumeMounts": [{"name": "data", "mountPath": "/data"},
             {"name": "v", "mountPath": ")" +
         path + "\"" + mount_more + R"(}]}], "volumes": [{"name": "data", "emptyDir": {}},
             {"name": "v", )" +
         source + "}]" + more + "}}";
}

std::string Claim(const std::string& name) {
  return R"("persistentVolumeClaim": {"claimName": ")" + name + "\"}";
}

/// A job with a chief, a ps, a worker and no evaluator, all from one template unless told.
PSTrainingJob JobOf(const std::string& all, const std::string& worker = "",
                    const std::string& directory = "/checkpoints/adult") {
  PSTrainingJob job;
  job.mutable_spec()->mutable_training()->mutable_checkpoint()->set_directory(directory);
  ReplicaSpecs& specs = *job.mutable_spec()->mutable_replica_specs();
  for (ReplicaSpec* spec : {specs.mutable_chief(), specs.mutable_ps(), specs.mutable_worker()}) {
    spec->set_replicas(1);
    spec->set_template_(all);
  }
  if (!worker.empty()) specs.mutable_worker()->set_template_(worker);
  return job;
}

std::string ReasonOf(const PSTrainingJob& job) {
  const CheckpointVolume volume = FindCheckpointVolume(job);
  return volume.problem ? volume.problem->reason : "";
}

TEST(FindCheckpointVolume, OfOneClaim_IsThatClaim) {
  for (const char* path : {"/checkpoints", "/checkpoints/", "/checkpoints/adult", "/"}) {
    const CheckpointVolume volume = FindCheckpointVolume(JobOf(TemplateOf(Claim("c"), path)));
    EXPECT_FALSE(volume.problem.has_value()) << path << ": " << volume.problem->message;
    EXPECT_EQ(volume.claim, "c") << path;
  }
}

TEST(FindCheckpointVolume, OfWhatCannotBeShared_SaysRoleVolumeAndWayOut) {
  const std::map<std::string, std::string> reasons = {
      {R"("emptyDir": {})", "CheckpointVolumePerPod"},
      {R"("ephemeral": {"volumeClaimTemplate": {}})", "CheckpointVolumePerPod"},
      {R"("configMap": {"name": "c"})", "CheckpointVolumeReadOnly"},
      {R"("secret": {"secretName": "c"})", "CheckpointVolumeReadOnly"},
      {R"("projected": {})", "CheckpointVolumeReadOnly"},
  };
  for (const auto& [source, reason] : reasons) {
    const CheckpointVolume volume = FindCheckpointVolume(JobOf(TemplateOf(source)));
    ASSERT_TRUE(volume.problem.has_value()) << source;
    EXPECT_EQ(volume.problem->reason, reason) << source;
    EXPECT_THAT(volume.problem->message,
                AllOf(HasSubstr("role chief: training.checkpoint.directory /checkpoints/adult"),
                      HasSubstr("volume v"), HasSubstr("ReadWriteMany")));
    EXPECT_EQ(volume.claim, "");
  }
}

TEST(FindCheckpointVolume, WithoutAMountAboveIt_IsOnNoVolume) {
  EXPECT_EQ(ReasonOf(JobOf("")), "NoCheckpointVolume");
  EXPECT_EQ(ReasonOf(JobOf(R"({"spec": {}})")), "NoCheckpointVolume");
  for (const char* path : {"/other", "/check", "/checkpoints/adult/deeper"}) {
    EXPECT_EQ(ReasonOf(JobOf(TemplateOf(Claim("c"), path))), "NoCheckpointVolume") << path;
  }
}

TEST(FindCheckpointVolume, TheNearestMountCounts) {
  const std::string nested =
      R"({"spec": {"containers": [{"volumeMounts": [
           {"name": "near", "mountPath": "/checkpoints/adult"},
           {"name": "far", "mountPath": "/checkpoints"}]}],
         "volumes": [{"name": "far", "persistentVolumeClaim": {"claimName": "c"}},
                     {"name": "near", "emptyDir": {}}]}})";
  EXPECT_EQ(ReasonOf(JobOf(nested)), "CheckpointVolumePerPod");
}

TEST(FindCheckpointVolume, WhenRolesSeeDifferentDirectories_NamesBoth) {
  const std::string ours = TemplateOf(Claim("c"));
  const std::map<std::string, std::string> theirs = {
      {TemplateOf(Claim("d")), "PersistentVolumeClaim d at /adult"},
      {TemplateOf(Claim("c"), "/checkpoints/adult"), "PersistentVolumeClaim c,"},
      {TemplateOf(Claim("c"), "/checkpoints", "", R"(, "subPath": "x")"), "claim c at x/adult"},
      {TemplateOf(R"("nfs": {"server": "s", "path": "/"})"), "volume v at /adult"},
  };
  for (const auto& [worker, words] : theirs) {
    const CheckpointVolume volume = FindCheckpointVolume(JobOf(ours, worker));
    ASSERT_TRUE(volume.problem.has_value()) << words;
    EXPECT_EQ(volume.problem->reason, "CheckpointVolumesDiffer");
    EXPECT_THAT(::testing::PrintToString(volume.problem->message),
                AllOf(HasSubstr("role worker"), HasSubstr("role chief is on "), HasSubstr("c at")));
  }
}

TEST(FindCheckpointVolume, WhenAllRunOnOneNode_NeedsNoAccessMode) {
  const std::string here = TemplateOf(Claim("c"), "/checkpoints",
                                      R"(, "nodeSelector": {"kubernetes.io/hostname": "n1"})");
  const std::string there = TemplateOf(Claim("c"), "/checkpoints", R"(, "nodeName": "n2")");
  EXPECT_EQ(FindCheckpointVolume(JobOf(here)).claim, "");
  EXPECT_EQ(FindCheckpointVolume(JobOf(here, there)).claim, "c");
  EXPECT_EQ(FindCheckpointVolume(JobOf(here, TemplateOf(Claim("c")))).claim, "c");
}

TEST(FindCheckpointVolume, WhenPodsRunWhereTheJobsOthersDo_NeedsNoAccessMode) {
  const auto claim_when = [](const std::string& term) {
    PSTrainingJob job = JobOf(TemplateOf(
        Claim("c"), "/checkpoints",
        R"(, "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [)" +
            term + "]}}"));
    job.mutable_metadata()->set_name("quick");
    return FindCheckpointVolume(job).claim;
  };
  const std::string labels = R"("matchLabels": {"pstrain.dev/job-name": "quick"})";
  const std::string node = R"("topologyKey": "kubernetes.io/hostname")";
  EXPECT_EQ(claim_when("{\"labelSelector\": {" + labels + "}, " + node + "}"), "");
  for (const std::string& term : {
           R"({"labelSelector": {"matchLabels": {"pstrain.dev/job-name": "other"}}, )" + node + "}",
           R"({"labelSelector": {"matchLabels": {"app": "quick"}}, )" + node + "}",
           R"({"labelSelector": {}, )" + node + "}",
           "{" + node + "}",
           "{\"labelSelector\": {" + labels + R"(}, "topologyKey": "topology.kubernetes.io/zone"})",
           "{\"labelSelector\": {" + labels + "}, " + node + R"(, "namespaces": ["other"]})",
           "{\"labelSelector\": {" + labels + R"(, "matchExpressions": []}, )" + node + "}",
       }) {
    EXPECT_EQ(claim_when(term), "c") << term;
  }
}

TEST(FindCheckpointVolume, OfWhatSaysNothingOfItself_IsNoProblem) {
  for (const char* source : {R"("nfs": {"server": "s"})", R"("hostPath": {"path": "/mnt"})"}) {
    EXPECT_EQ(ReasonOf(JobOf(TemplateOf(source))), "") << source;
  }
  PSTrainingJob own_program = JobOf(TemplateOf(R"("emptyDir": {})"));
  own_program.mutable_spec()->clear_training();
  EXPECT_EQ(ReasonOf(own_program), "");
  EXPECT_EQ(ReasonOf(JobOf("{")), "") << "left to who builds pods of it";
}

TEST(FindCheckpointVolume, ARoleWithoutReplicas_IsNotAsked) {
  PSTrainingJob job = JobOf(TemplateOf(Claim("c")), TemplateOf(R"("emptyDir": {})"));
  job.mutable_spec()->mutable_replica_specs()->mutable_worker()->set_replicas(0);
  EXPECT_EQ(ReasonOf(job), "");
}

std::string Judge(const std::string& claim) {
  const auto problem = ProblemOfClaim(*ParseJson(claim));
  return problem ? problem->reason + ": " + problem->message : "";
}

TEST(ProblemOfClaim, NamesClaimModesAndWayOut) {
  EXPECT_THAT(Judge(R"({"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"]}})"),
              AllOf(HasSubstr("ClaimNotReadWriteMany: PersistentVolumeClaim c,"),
                    HasSubstr("is ReadWriteOnce: replicas on several nodes"),
                    HasSubstr("ReadWriteMany, or keep all replicas on one node")));
  EXPECT_THAT(Judge(R"({"spec": {"accessModes": ["ReadWriteOnce", "ReadOnlyMany"]}})"),
              HasSubstr("ReadWriteOnce and ReadOnlyMany"));
  EXPECT_THAT(Judge(R"({"spec": {"accessModes": ["ReadWriteOncePod"]}})"), HasSubstr("one pod"));
  EXPECT_THAT(Judge("{}"), HasSubstr("no access mode"));
}

TEST(ProblemOfClaim, OfABoundClaim_LooksAtItsVolume) {
  EXPECT_EQ(Judge(R"({"spec": {"accessModes": ["ReadWriteMany"]}})"), "");
  EXPECT_EQ(Judge(R"({"spec": {"accessModes": ["ReadWriteOnce"]},
                      "status": {"accessModes": ["ReadWriteOnce", "ReadWriteMany"]}})"),
            "");
}

}  // namespace
}  // namespace pstrain::job
