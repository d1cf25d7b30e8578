#include "runtime/cluster/chief_finder.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace pstrain {
namespace {

ChiefFinder MakeFinder(std::map<std::string, Result<std::uint64_t>> peers) {
  std::vector<std::string> addresses;
  for (const auto& [address, reply] : peers) addresses.push_back(address);
  return ChiefFinder(
      [peers](const std::string& address, std::chrono::milliseconds timeout) {
        EXPECT_EQ(timeout, ChiefFinder::kProbeTimeout);
        return peers.at(address);
      },
      [addresses](const std::string&) { return addresses; });
}

TEST(ChiefFinder, WhenSeveralAnswer_KeepsTheHighestTerm) {
  const auto finder = MakeFinder({{"10.0.0.1:1", 3},
                                  {"10.0.0.2:1", 5},
                                  {"10.0.0.3:1", 4},
                                  {"10.0.0.4:1", Status(StatusCode::kUnavailable, "x")}});
  const auto found = finder.Find("chief:1");
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  EXPECT_EQ(found->address, "10.0.0.2:1");
  EXPECT_EQ(found->term, 5u);
}

TEST(ChiefFinder, WhenNoneAnswers_SaysTheLastError) {
  const auto finder = MakeFinder({{"10.0.0.1:1", UnavailableError("refused")}});
  const auto found = finder.Find("chief:1");
  EXPECT_EQ(found.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(found.status().message().find("10.0.0.1:1: refused"), std::string::npos);
}

TEST(ChiefFinder, WhenNobodyAnswers_GivesTheNextRoundsMoreTimeUntilSomebodyDoes) {
  using std::chrono::seconds;
  std::vector<std::chrono::milliseconds> asked;
  // So far away that an answer takes 3 s.
  const ChiefFinder finder(
      [&asked](const std::string&, std::chrono::milliseconds timeout) -> Result<std::uint64_t> {
        asked.push_back(timeout);
        if (timeout < seconds(3)) return DeadlineExceededError("too late");
        return std::uint64_t{1};
      },
      [](const std::string&) { return std::vector<std::string>{"10.0.0.1:1"}; });
  EXPECT_FALSE(finder.Find("chief:1").ok());
  EXPECT_FALSE(finder.Find("chief:1").ok());
  EXPECT_TRUE(finder.Find("chief:1").ok());
  EXPECT_FALSE(finder.Find("chief:1").ok());
  EXPECT_EQ(asked, (std::vector<std::chrono::milliseconds>{seconds(1), seconds(2), seconds(4),
                                                           seconds(1)}));
}

TEST(ChiefFinder, WhenTheAddressIsBad_IsInvalid) {
  ChiefFinder finder([](const std::string&, std::chrono::milliseconds) -> Result<std::uint64_t> {
    return std::uint64_t{1};
  });
  EXPECT_EQ(finder.Find("chief").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace pstrain
