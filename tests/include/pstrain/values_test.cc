#include <gtest/gtest.h>
#include <pstrain/values.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pstrain {
namespace {

TEST(Values, KeepTheOrderInWhichTheyWereSet) {
  Values values{{"loss", 0.5F}, {"count", 3}};
  values.Set("accuracy", 0.25F);
  std::vector<std::string> names;
  for (const NamedTensor& value : values) names.push_back(value.name);
  EXPECT_EQ(names, (std::vector<std::string>{"loss", "count", "accuracy"}));
  EXPECT_EQ(values.size(), 3U);
}

TEST(Values, WhenANameIsSetAgain_ItsTensorTakesThePlace) {
  Values values{{"a", 1}, {"b", 2}, {"a", 3}};
  EXPECT_EQ(values, (Values{{"a", 3}, {"b", 2}}));
  values.Set("b", 4);
  EXPECT_EQ(*values.scalar<std::int32_t>("b"), 4);
  EXPECT_EQ(values.size(), 2U);
}

TEST(Values, WhenANameIsMissing_SayWhatIsThere) {
  const Values values{{"loss", 0.5F}, {"count", 3}};
  EXPECT_EQ(values.Find("lost"), nullptr);
  const Status status = values.Get("lost").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("loss, count"), std::string::npos) << status.message();
  EXPECT_EQ(values.scalar<float>("lost").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Values().Get("x").status().code(), StatusCode::kNotFound);
}

TEST(Values, Scalar_OfAnotherDType_IsRefusedByName) {
  const Values values{{"loss", 0.5F}};
  const Status status = values.scalar<double>("loss").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message().find("loss"), 0U) << status.message();
  EXPECT_EQ(*values.scalar<float>("loss"), 0.5F);
}

}  // namespace
}  // namespace pstrain
