#include "local/replicas/pod_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "proto/job/psjob.pb.h"

namespace pstrain::local {
namespace {

TEST(MapPath, WithNestedMounts_TakesTheLongest) {
  const PathMap mounts = {{"/data", "/a"}, {"/data/big", "/b"}};
  EXPECT_EQ(MapPath(mounts, "/data/x.csv"), "/a/x.csv");
  EXPECT_EQ(MapPath(mounts, "/data/big/x.csv"), "/b/x.csv");
  EXPECT_EQ(MapPath(mounts, "/data"), "/a");
  EXPECT_EQ(MapPath(mounts, "/database/x.csv"), "/database/x.csv");
}

TEST(ReadPodTemplate, WithAContainer_TakesWhatMeansSomethingHere) {
  ReplicaSpec spec;
  spec.set_template_(R"({"spec":{"containers":[{"image":"i","command":["a"],"args":["b"],
    "env":[{"name":"X","value":"1"},{"name":"Y","valueFrom":{}}],
    "volumeMounts":[{"name":"data","mountPath":"/data/"}]}]}})");
  const auto pod = ReadPodTemplate(spec);
  ASSERT_TRUE(pod.ok());
  EXPECT_THAT(pod->command, testing::ElementsAre("a", "b"));
  EXPECT_THAT(pod->environment, testing::ElementsAre(testing::Pair("X", "1")));
  EXPECT_THAT(pod->mounts, testing::ElementsAre(testing::Pair("/data", "data")));
  EXPECT_THAT(pod->ignored, testing::ElementsAre("env Y (valueFrom)", "image"));
}

TEST(ReadPodTemplate, WithSeveralContainers_TakesTheTrainingContainer) {
  ReplicaSpec spec;
  spec.set_template_(
      R"({"metadata":{"annotations":{"pstrain.dev/training-container":"main"}},
    "spec":{"containers":[{"name":"log","command":["l"]},{"name":"main","command":["m"]}]}})");
  EXPECT_THAT(ReadPodTemplate(spec)->command, testing::ElementsAre("m"));
  spec.set_template_(
      R"({"metadata":{"annotations":{"pstrain.dev/training-container":"man"}},
    "spec":{"containers":[{"name":"main","command":["m"]}]}})");
  EXPECT_THAT(ReadPodTemplate(spec).status().message(),
              testing::HasSubstr("template.metadata.annotations: pstrain.dev/training-container"));
}

TEST(ReadPodTemplate, WithAGracePeriod_TakesIt) {
  ReplicaSpec spec;
  EXPECT_EQ(ReadPodTemplate(spec)->grace, std::nullopt);
  spec.set_template_(R"({"spec":{"terminationGracePeriodSeconds":120,"containers":[{}]}})");
  EXPECT_EQ(ReadPodTemplate(spec)->grace, std::chrono::seconds(120));
}

}  // namespace
}  // namespace pstrain::local
