#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace pstrain {
namespace {

// splitmix64.c of Vigna gives these for the seed 1234567.
TEST(Rng, Next_FromAKnownSeed_GivesThePublishedSequence) {
  Rng rng(1234567);
  EXPECT_EQ(rng.Next(), 6457827717110365317ULL);
  EXPECT_EQ(rng.Next(), 3203168211198807973ULL);
  EXPECT_EQ(rng.Next(), 9817491932198370423ULL);
}

TEST(Rng, Uniform_CoversTheRangeEvenly) {
  Rng rng(3);
  std::vector<int> counts(7);
  for (int i = 0; i < 70'000; ++i) ++counts[rng.Uniform(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
  EXPECT_EQ(rng.Uniform(1), 0U);
}

TEST(Rng, NextDouble_IsInTheUnitInterval) {
  Rng rng(4);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double value = rng.NextDouble();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
  EXPECT_LT(ToUnitDouble(~0ULL), 1.0);
}

TEST(Rng, NextGaussian_HasMeanZeroAndVarianceOne) {
  Rng rng(5);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < 20'000; ++i) {
    const double value = rng.NextGaussian();
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 20'000, 0.0, 0.03);
  EXPECT_NEAR(squares / 20'000, 1.0, 0.05);
}

TEST(Mix64, OfTwoWords_DependsOnTheirOrder) {
  EXPECT_NE(Mix64(1, 2), Mix64(2, 1));
  EXPECT_EQ(Mix64(1, 2), Mix64(1, 2));
}

TEST(KeyedPermutation, AllSizes_HitEachElementOnce) {
  for (std::uint64_t n = 1; n <= 300; ++n) {
    const KeyedPermutation permutation(n * 31, n);
    std::vector<bool> seen(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t element = permutation(i);
      ASSERT_LT(element, n);
      ASSERT_FALSE(seen[element]);
      seen[element] = true;
      ASSERT_EQ(permutation.Inverse(element), i);
    }
  }
}

TEST(KeyedPermutation, LargeSizes_StayInRangeAndInvert) {
  for (const std::uint64_t n : {(1ULL << 32) + 1, (1ULL << 40) - 1, 1ULL << 63}) {
    const KeyedPermutation permutation(9, n);
    for (std::uint64_t i = 0; i < 100; ++i) {
      ASSERT_LT(permutation(i), n);
      ASSERT_EQ(permutation.Inverse(permutation(i)), i);
    }
  }
}

TEST(KeyedPermutation, OtherKeys_GiveOtherOrders) {
  const KeyedPermutation a(1, 1000);
  const KeyedPermutation b(2, 1000);
  int same = 0;
  int fixed = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    same += a(i) == b(i) ? 1 : 0;
    fixed += a(i) == i ? 1 : 0;
  }
  EXPECT_LT(same, 10);
  EXPECT_LT(fixed, 10);
}

}  // namespace
}  // namespace pstrain
