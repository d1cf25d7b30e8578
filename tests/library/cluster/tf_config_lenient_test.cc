#include "library/cluster/tf_config_lenient.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace pstrain {
namespace {

Result<std::optional<int>> Index(const std::string& index) {
  return ReadTfConfigLeniently(R"({"task":{"type":"ps","index":)" + index + "}}").task_id;
}

TEST(TfConfigLenient, ReadsIndicesAsPythonDoes) {
  EXPECT_EQ(*Index("2"), 2);
  EXPECT_EQ(*Index("2.9"), 2);
  EXPECT_EQ(*Index("-2.9"), -2);
  EXPECT_EQ(*Index("true"), 1);
  EXPECT_EQ(*Index("\" +7 \""), 7);
  EXPECT_EQ(*Index("\"-7\""), -7);
  EXPECT_EQ(*Index("\"1_0_0\""), 100);
}

TEST(TfConfigLenient, WhenAnIndexIsNoNumber_IsRefusedAndTheTypeIsRead) {
  for (const std::string index : {"null", "[]", "{}", "\"\"", "\"x\"", "\"1.5\"", "\"--1\"",
                                  "\"+-1\"", "\"_1\"", "\"1_\"", "\"1__0\"", "1e300"}) {
    EXPECT_EQ(Index(index).status().code(), StatusCode::kInvalidArgument) << index;
  }
  EXPECT_EQ(*ReadTfConfigLeniently(R"({"task":{"type":"ps","index":"x"}})").task_type, "ps");
}

TEST(TfConfigLenient, MakesTextOfAnyType) {
  const auto type = [](const std::string& json) {
    return ReadTfConfigLeniently(R"({"task":{"type":)" + json + "}}").task_type.value();
  };
  EXPECT_EQ(type("\"chief\""), "chief");
  EXPECT_EQ(type("null"), "None");
  EXPECT_EQ(type("true"), "True");
  EXPECT_EQ(type("7"), "7");
}

TEST(TfConfigLenient, WhenATextOrAListHasTheKeyInIt_IsRefused) {
  EXPECT_EQ(ReadTfConfigLeniently(R"("a cluster")").cluster_spec.status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadTfConfigLeniently(R"(["cluster"])").cluster_spec.status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_TRUE(ReadTfConfigLeniently(R"(["clusters"])").cluster_spec->empty());
  EXPECT_EQ(ReadTfConfigLeniently("5").rpc_layer.status().code(), StatusCode::kInvalidArgument);
}

TEST(TfConfigLenient, WhenNotJson_NothingIsRead) {
  const LenientTfConfig config = ReadTfConfigLeniently("{cluster:");
  EXPECT_EQ(config.cluster_spec.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(config.task_type.status(), config.cluster_spec.status());
  EXPECT_EQ(config.session_master.status(), config.cluster_spec.status());
}

}  // namespace
}  // namespace pstrain
