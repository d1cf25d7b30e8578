#include "runtime/requests/routing.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace pstrain {
namespace {

constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();

/// All small ones, and those around each power of two.
std::vector<std::uint32_t> Divisors() {
  std::vector<std::uint32_t> divisors;
  for (std::uint32_t d = 1; d <= 1000; ++d) divisors.push_back(d);
  for (int bit = 10; bit < 32; ++bit) {
    for (const std::uint32_t by : {0U, 1U, 2U}) {
      divisors.push_back((1U << bit) - 1 + by);
      divisors.push_back((1U << bit) + (1U << (bit - 1)) + by);
    }
  }
  divisors.push_back(std::numeric_limits<std::uint32_t>::max());
  divisors.push_back(std::numeric_limits<std::uint32_t>::max() - 1);
  return divisors;
}

/// Around each power of two and around multiples of the divisor, and drawn ones.
std::vector<std::uint64_t> Words(std::uint64_t divisor) {
  std::vector<std::uint64_t> words = {0, 1, kLast, kLast - 1};
  for (int bit = 1; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    words.insert(words.end(), {power - 1, power, power + 1});
    const std::uint64_t multiple = power / divisor * divisor;
    words.insert(words.end(), {multiple - 1, multiple, multiple + 1});
  }
  const std::uint64_t last = kLast / divisor * divisor;
  words.insert(words.end(), {last - 1, last, last + 1});
  Rng rng(divisor);
  for (int i = 0; i < 100; ++i) words.push_back(rng.Next());
  return words;
}

TEST(ShardModulus, WhateverTheNumberOfShards_IsTheRemainderOfTheDivision) {
  for (const std::uint32_t divisor : Divisors()) {
    const ShardModulus modulus(divisor);
    EXPECT_EQ(modulus.shards(), divisor);
    for (const std::uint64_t word : Words(divisor)) {
      ASSERT_EQ(modulus.Of(word), word % divisor) << word << " mod " << divisor;
    }
  }
}

TEST(ShardOfRow, WhenManyRowsShareAModulus_EachIsWhereItWasAlone) {
  for (const std::uint32_t shards : {1U, 3U, 48U, 64U, 1000U}) {
    const ShardModulus modulus(shards);
    for (std::uint64_t row = 0; row < 200; ++row) {
      EXPECT_EQ(ShardOfRow(RouteOf("w"), row, modulus), ShardOfRow(RouteOf("w"), row, shards));
    }
  }
}

}  // namespace
}  // namespace pstrain
