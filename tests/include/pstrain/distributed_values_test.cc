#include <gtest/gtest.h>
#include <pstrain/distributed_values.h>

#include <memory>
#include <string>
#include <vector>

namespace pstrain {
namespace {

TEST(PerReplica, KeepsTheOrderOfReplicas) {
  const PerReplica<int> values(std::vector<int>{5, 6, 7});
  EXPECT_EQ(values.size(), 3U);
  EXPECT_EQ(*values.Get(2), 7);
  EXPECT_EQ(std::vector<int>(values.begin(), values.end()), values.values());
}

TEST(PerReplica, WhenMadeOfOneValue_HasOneReplica) {
  const PerReplica<std::string> values(std::string("x"));
  EXPECT_EQ(values.size(), 1U);
  EXPECT_EQ(*values.Get(0), "x");
  EXPECT_EQ(values, PerReplica<std::string>(std::vector<std::string>{"x"}));
}

TEST(PerReplica, WhenThereIsNoSuchReplica_IsOutOfRange) {
  EXPECT_EQ(PerReplica<int>(1).Get(1).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(PerReplica<int>().Get(0).status().code(), StatusCode::kOutOfRange);
}

TEST(PerWorker, KeepsTheOrderOfWorkers) {
  const PerWorker<int> values(std::vector<int>{1, 2});
  EXPECT_EQ(*values.Get(1), 2);
  EXPECT_EQ(values.Get(2).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(std::vector<int>(values.begin(), values.end()), values.values());
  EXPECT_NE(values, PerWorker<int>());
}

}  // namespace
}  // namespace pstrain
