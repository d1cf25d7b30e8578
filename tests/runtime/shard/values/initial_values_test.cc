#include "runtime/shard/values/initial_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace pstrain {
namespace {

InitialValues Make(const char* name, Initializer::Kind kind, std::int64_t seed) {
  VariableSpec spec;
  spec.set_name(name);
  spec.mutable_initializer()->set_kind(kind);
  spec.mutable_initializer()->set_scale(0.5);
  spec.mutable_initializer()->set_seed(seed);
  auto values = InitialValues::Create(spec);
  EXPECT_TRUE(values.ok());
  return *values;
}

std::vector<float> Fill(const InitialValues& values, std::uint64_t first, std::size_t count) {
  std::vector<float> out(count);
  values.Fill(first, out);
  return out;
}

TEST(InitialValues, Fill_WhenReadInParts_IsTheSame) {
  const InitialValues values = Make("a", Initializer::TRUNCATED_NORMAL, 1);
  const std::vector<float> whole = Fill(values, 0, 100);
  const std::vector<float> part = Fill(values, 40, 20);
  EXPECT_EQ(part, std::vector<float>(whole.begin() + 40, whole.begin() + 60));
}

TEST(InitialValues, Fill_WhenNameOrSeedDiffers_Differs) {
  const std::vector<float> values = Fill(Make("a", Initializer::UNIFORM, 1), 0, 8);
  EXPECT_NE(values, Fill(Make("b", Initializer::UNIFORM, 1), 0, 8));
  EXPECT_NE(values, Fill(Make("a", Initializer::UNIFORM, 2), 0, 8));
}

TEST(InitialValues, Fill_HasTheDistributionAsked) {
  constexpr std::size_t kCount = 20'000;
  double sum = 0;
  double squares = 0;
  for (const float value : Fill(Make("a", Initializer::TRUNCATED_NORMAL, 1), 0, kCount)) {
    EXPECT_LE(std::abs(value), 1.0f);  // two standard deviations
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  EXPECT_NEAR(sum / kCount, 0.0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / kCount), 0.5 * 0.8796, 0.01);  // of a normal cut at two sigma
  double mean = 0;
  for (const float value : Fill(Make("a", Initializer::UNIFORM, 1), 0, kCount)) {
    EXPECT_LT(std::abs(value), 0.5001f);
    mean += value;
  }
  EXPECT_NEAR(mean / kCount, 0.0, 0.02);
}

}  // namespace
}  // namespace pstrain
