#include "runtime/chief/protocol/succession.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

constexpr std::uint64_t kMost = Succession::kMostRetired;

TEST(Succession, OfOneAttempt_TheLastProcessIsTheNewest) {
  Succession succession;
  EXPECT_FALSE(succession.Outdated(0, {1, 0}));
  succession.Take(0, {1, 0});
  succession.Take(0, {1, 0});
  EXPECT_FALSE(succession.Outdated(0, {1, 0}));
  succession.Take(0, {2, 0});
  EXPECT_TRUE(succession.Outdated(0, {1, 0}));
  EXPECT_FALSE(succession.Outdated(0, {2, 0}));
  EXPECT_FALSE(succession.Outdated(1, {1, 0})) << "another index";
}

TEST(Succession, OfSeveralAttempts_TheHighestCountsWhoeverSpeaksLast) {
  Succession succession;
  succession.Take(0, {1, 3});
  EXPECT_TRUE(succession.Outdated(0, {2, 2}));
  succession.Take(0, {2, 4});
  EXPECT_TRUE(succession.Outdated(0, {1, 3}));
  succession.Retire(0, 2);
  EXPECT_TRUE(succession.Outdated(0, {2, 4}));
  EXPECT_FALSE(succession.Outdated(0, {3, 4}));
  succession.Take(0, {3, 5});
  EXPECT_TRUE(succession.Outdated(0, {2, 4}));
}

// Whoever has the token of a replica may name another process with each call.
TEST(Succession, WhenProcessesAreInvented_OnlyTheLastAreRemembered) {
  Succession succession;
  for (std::uint64_t id = 0; id <= kMost; ++id) succession.Take(0, {id, 1});
  for (std::uint64_t id = 0; id < kMost; ++id) EXPECT_TRUE(succession.Outdated(0, {id, 1})) << id;
  succession.Take(0, {kMost + 1, 1});
  EXPECT_FALSE(succession.Outdated(0, {0, 1})) << "more than that many are not kept";
  EXPECT_TRUE(succession.Outdated(0, {1, 1}));
  succession.Take(0, {kMost + 2, 2});
  EXPECT_TRUE(succession.Outdated(0, {0, 1})) << "of an earlier attempt";
}

}  // namespace
}  // namespace pstrain
