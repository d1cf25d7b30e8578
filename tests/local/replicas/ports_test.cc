#include "local/replicas/ports.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <set>

namespace pstrain::local {
namespace {

TEST(ClaimedPorts, WhenAnotherRunHoldsThem_AreOthersUntilItEnds) {
  const auto seed = static_cast<std::uint64_t>(getpid());
  std::set<std::uint16_t> first;
  {
    const auto one = ClaimedPorts::Claim(20, seed);
    const auto other = ClaimedPorts::Claim(20, seed);
    ASSERT_TRUE(one.ok() && other.ok());
    first = {one->ports().begin(), one->ports().end()};
    std::set<std::uint16_t> all(other->ports().begin(), other->ports().end());
    all.insert(first.begin(), first.end());
    EXPECT_EQ(all.size(), 40U);
  }
  const auto again = ClaimedPorts::Claim(20, seed);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(std::ranges::any_of(again->ports(), [&](auto port) { return first.contains(port); }));
}

}  // namespace
}  // namespace pstrain::local
