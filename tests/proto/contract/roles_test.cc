#include "proto/contract/roles.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/contract/exit_codes.h"
#include "proto/contract/replica_specs.h"
#include "proto/contract/tf_config.h"
#include "proto/job/job_manifest.h"

namespace pstrain {
namespace {

constexpr const char* kHead =
    "apiVersion: pstrain.dev/v1alpha1\nkind: PSTrainingJob\nmetadata: {name: roles}\nspec:\n"
    "  replicaSpecs:\n";

/// A job that runs its own program, with these lines under replicaSpecs.
Result<PSTrainingJob> JobWith(const std::string& replica_specs) {
  return ReadJobManifest(kHead + replica_specs);
}

TEST(Roles, Table_IsInTheOrderOfTheEnum) {
  for (const Role role : kRoles) {
    EXPECT_EQ(TraitsOf(role).role, role);
    EXPECT_EQ(RoleFromName(RoleName(role)), role);
    EXPECT_NE(kRoleNames.find(RoleName(role)), std::string_view::npos);
  }
  EXPECT_EQ(RoleFromName("master"), std::nullopt);
  EXPECT_EQ(RoleFromName("Chief"), std::nullopt);
  EXPECT_EQ(RoleFromName(""), std::nullopt);
}

TEST(Roles, DefaultReplicas_AreThoseOfAManifestThatLeavesTheRoleOut) {
  const auto job = JobWith("    ps: {replicas: 0}\n    worker: {replicas: 0}\n");
  ASSERT_TRUE(job.ok()) << job.status().message();
  for (const Role role : kRoles) {
    EXPECT_EQ(DesiredReplicas(job->spec(), role), TraitsOf(role).default_replicas)
        << RoleName(role);
  }
  EXPECT_EQ(FindReplicaSpec(job->spec(), Role::kEvaluator), nullptr);
}

TEST(Roles, Singleton_IsWhatTheManifestRulesSay) {
  for (const Role role : kRoles) {
    std::string specs;
    for (const Role other : kRoles) {
      specs += "    " + std::string(RoleName(other)) +
               ": {replicas: " + (other == role ? "2" : "1") + "}\n";
    }
    EXPECT_EQ(JobWith(specs).ok(), !TraitsOf(role).singleton) << RoleName(role);
  }
}

TEST(Roles, ClusterSpec_HasTheRolesThatTheTableNames) {
  const auto job =
      JobWith("    ps: {replicas: 1}\n    worker: {replicas: 1}\n    evaluator: {replicas: 1}\n");
  ASSERT_TRUE(job.ok()) << job.status().message();
  const ClusterAddresses cluster = KubernetesCluster(*job);
  for (const Role role : kRoles) {
    EXPECT_EQ(cluster.contains(RoleName(role)), TraitsOf(role).in_cluster_spec) << RoleName(role);
  }
}

TEST(ExitCodes, Disruptions_AreTheTwoThatAreNobodysFault) {
  for (int code = 0; code < 256; ++code) {
    EXPECT_EQ(IsDisruptionExit(code), code == 85 || code == 86) << code;
  }
  EXPECT_EQ(ExitCodeOfSignal(9), 137);
  EXPECT_EQ(SignalOfExitCode(137), 9);
  EXPECT_EQ(SignalOfExitCode(128), 0);
  EXPECT_EQ(SignalOfExitCode(192), 64);
  EXPECT_EQ(SignalOfExitCode(255), 0);
  EXPECT_EQ(SignalOfExitCode(1), 0);
}

}  // namespace
}  // namespace pstrain
