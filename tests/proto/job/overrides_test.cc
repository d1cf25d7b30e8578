#include "proto/job/overrides.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/job/manifest_path.h"

namespace pstrain {
namespace {

Json Tree() {
  return *ParseJson(
      R"({"spec":{"replicaSpecs":{"ps":{"replicas":2}},"training":{"optimizer":{"sgd":{}},)"
      R"("input":{"csv":{"files":["a","b"]}},"batchSize":8}}})");
}

std::string After(std::string_view text) {
  Json tree = Tree();
  const Status status = ApplyOverride(text, tree);
  return status.ok() ? WriteJson(*tree.Find("spec")) : status.message();
}

TEST(Override_OfAField, ReplacesOrMakesIt) {
  EXPECT_NE(After("spec.replicaSpecs.ps.replicas=3").find(R"("ps":{"replicas":3})"),
            std::string::npos);
  EXPECT_NE(After("spec.replicaSpecs.worker.replicas=3").find(R"("worker":{"replicas":3})"),
            std::string::npos);
  EXPECT_NE(After("spec.training.input.csv.files[1]=c=d").find(R"(["a","c=d"])"),
            std::string::npos);
  EXPECT_NE(After("spec.training.input.csv.files[2]=c").find(R"(["a","b","c"])"),
            std::string::npos);
  EXPECT_NE(After("spec.training.input.csv.files=[x]").find(R"("files":["x"])"), std::string::npos);
  EXPECT_NE(After(R"(spec.training.input.csv.labelMap["<=50K"]=1)").find(R"({"<=50K":1})"),
            std::string::npos);
  EXPECT_NE(After("spec.replicaSpecs.ps.template.spec.x[0].y=1").find(R"({"x":[{"y":1}]})"),
            std::string::npos);
}

TEST(Override_OfAUnion, DropsTheOtherMember) {
  EXPECT_NE(After("spec.training.optimizer.adagrad.learningRate=0.5")
                .find(R"("optimizer":{"adagrad":{"learningRate":0.5}})"),
            std::string::npos);
}

TEST(Override_WhenWrong, SaysWhatAndWhere) {
  EXPECT_EQ(After("spec.replicaSpecs.ps"), "spec.replicaSpecs.ps: must be PATH=VALUE");
  EXPECT_EQ(After("spec.replicaSpec.ps.replicas=1"),
            "spec.replicaSpec: unknown field; did you mean \"replicaSpecs\"?");
  EXPECT_EQ(After("spec.training.batchSize.x=1"), "spec.training.batchSize: is not an object");
  EXPECT_EQ(After("spec.training.input.csv.files[5]=1"),
            "spec.training.input.csv.files: has only 2 items");
  EXPECT_EQ(After("spec.training.input.csv.files.x=1"),
            "spec.training.input.csv.files: is not an object");
  EXPECT_EQ(After("spec.training[0]=1"), "spec.training: is not a list");
  EXPECT_EQ(After("spec..x=1"), "spec..x: a name is missing");
  EXPECT_EQ(After("=1"), ": the path is empty");
  EXPECT_EQ(After("spec.training.batchSize=*a"),
            "spec.training.batchSize: is not YAML: the referenced anchor is not defined");
}

TEST(ManifestPath_OfEverySort, IsReadAsItIsWritten) {
  const std::string path =
      JoinMember(JoinIndex(JoinMember(JoinMember("", "a"), "b.c \"d\"\\"), 3), "e");
  EXPECT_EQ(path, "a[\"b.c \\\"d\\\"\\\\\"][3].e");
  const auto steps = ParseManifestPath(path);
  ASSERT_TRUE(steps.ok()) << steps.status().message();
  const std::vector<PathStep> expected = {
      {.name = "a"}, {.name = "b.c \"d\"\\"}, {.index = 3, .is_index = true}, {.name = "e"}};
  EXPECT_EQ(*steps, expected);
  for (const std::string_view bad : {"a[", "a[x]", "a[\"x]", "a]", "a.", ".a", "a[1]b", ""}) {
    EXPECT_FALSE(ParseManifestPath(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace pstrain
