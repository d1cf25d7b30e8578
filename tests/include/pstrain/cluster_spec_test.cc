#include <gtest/gtest.h>
#include <pstrain/cluster_spec.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pstrain {
namespace {

TEST(ClusterSpec, WhenThereAreNoJobs_IsEmpty) {
  EXPECT_TRUE(ClusterSpec().empty());
  EXPECT_TRUE(ClusterSpec().jobs().empty());
  EXPECT_EQ(ClusterSpec().ToJson(), "{}");
}

TEST(ClusterSpec, OfLists_CountsFromZero) {
  const ClusterSpec spec = ClusterSpec::Of({{"worker", {"a:1", "b:1"}}, {"ps", {"p:1"}}});
  EXPECT_EQ(spec.jobs(), (std::vector<std::string>{"ps", "worker"}));
  EXPECT_EQ(*spec.num_tasks("worker"), 2);
  EXPECT_EQ(*spec.task_indices("worker"), (std::vector<int>{0, 1}));
  EXPECT_EQ(*spec.task_address("worker", 1), "b:1");
  EXPECT_EQ(spec.ToJson(), R"({"ps":["p:1"],"worker":["a:1","b:1"]})");
  EXPECT_EQ(spec, ClusterSpec({{"ps", {{0, "p:1"}}}, {"worker", {{0, "a:1"}, {1, "b:1"}}}}));
  EXPECT_NE(spec, ClusterSpec::Of({{"worker", {"b:1", "a:1"}}, {"ps", {"p:1"}}}));
}

TEST(ClusterSpec, WithHoles_KeepsIndices) {
  const ClusterSpec spec({{"worker", {{0, "a:1"}, {3, "d:1"}}}});
  EXPECT_EQ(*spec.num_tasks("worker"), 2);
  EXPECT_EQ(*spec.task_indices("worker"), (std::vector<int>{0, 3}));
  EXPECT_EQ(*spec.job_tasks("worker"),
            (std::vector<std::optional<std::string>>{"a:1", std::nullopt, std::nullopt, "d:1"}));
  EXPECT_EQ(spec.ToJson(), R"({"worker":{"0":"a:1","3":"d:1"}})");
}

// Byte by byte; TfConfigClusterResolver.AgainstTensorFlow_IsTheSame has TensorFlow's own.
TEST(ClusterSpec, ToClusterDef_HasJobsAndTasksInOrder) {
  EXPECT_EQ(ClusterSpec().ToClusterDef(), "");
  const ClusterSpec spec({{"worker", {{300, "b:1"}, {0, ""}}}, {"ps", {}}});
  const std::string_view task_0("\x12\x04\x08\x00\x12\x00", 6);
  const std::string_view task_300(
      "\x12\x08\x08\xAC\x02\x12\x03"
      "b:1",
      10);
  const std::string worker = "\x0A\x06worker" + std::string(task_0) + std::string(task_300);
  EXPECT_EQ(spec.ToClusterDef(), std::string("\x0A\x04\x0A\x02ps\x0A\x18") + worker);
  const std::string long_name(200, 'n');
  EXPECT_EQ(ClusterSpec(ClusterSpec::Jobs{{long_name, {}}}).ToClusterDef(),
            "\x0A\xCB\x01\x0A\xC8\x01" + long_name);
}

TEST(ClusterSpec, WhenAskedForWhatIsNotThere_IsRefused) {
  const ClusterSpec spec({{"ps", {}}, {"worker", {{0, "a:1"}, {1, "b:1"}, {2'000'000, "z:1"}}}});
  EXPECT_EQ(spec.num_tasks("chief").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(spec.task_indices("chief").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(spec.job_tasks("chief").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(spec.task_address("worker", 2).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(spec.job_tasks("ps").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(spec.job_tasks("worker").status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(*spec.num_tasks("ps"), 0);
}

}  // namespace
}  // namespace pstrain
