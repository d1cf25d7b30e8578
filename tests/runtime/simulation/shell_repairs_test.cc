// A program that saves marks, and calls whose functions fail when they run again for shards that
// lack what others have: after the loss of a ps, or of a worker in the middle of a push.

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <string>

#include "tests/runtime/simulation/seed_process.h"
#include "tests/runtime/simulation/shell_result.h"

namespace pstrain::simulation {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kSeeds = 4;
/// As long as it takes until most seeds have a mark.
constexpr seconds kBegins{8};

PlannedFault KilledWith(std::vector<std::string> killed, Nature nature) {
  nature.marks = true;
  return {.killed = std::move(killed), .begins = kBegins, .nature = nature};
}
const PlannedFault kPsKilled = KilledWith({"ps-1"}, {.repairs_fail = true});
const PlannedFault kAllPsKilled = KilledWith({"ps-0", "ps-1"}, {.repairs_fail = true});

/// Runs the seeds; how many updates were lost in them.
std::uint64_t LostOf(const PlannedFault& fault, std::uint64_t seeds = kSeeds) {
  std::uint64_t lost = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, fault);
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    EXPECT_EQ(result.lost, result.lost_counted) << "seed " << seed << ": one chief has them all";
    lost += result.lost;
  }
  std::cout << lost << " updates lost in repair\n";
  return lost;
}

bool Caught(const Mutations& mutations, const PlannedFault& fault, const std::string& says,
            std::uint64_t seeds = 2 * kSeeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const std::string error = RunSeed(seed, mutations, fault).error;
    if (error.empty()) continue;
    std::cout << "seed " << seed << " sees it: " << error << '\n';
    if (error.find(says) != std::string::npos) return true;
  }
  return false;
}

TEST(ShellRepairs, WhenCallsFailAsTheyRunForALostPs_ItsShardsGoWithoutAndEachIsCounted) {
  EXPECT_GT(LostOf(kPsKilled), 0u);
}

TEST(ShellRepairs, WhenCallsFailAsTheyRunForAllPs_EachIsCounted) {
  EXPECT_GT(LostOf(kAllPsKilled), 0u);
}

// The worker is lost when what it pushes has come to one of two ps.
const PlannedFault kTorn{.killed = {"worker-0", "worker-1"},
                         .begins = kBegins,
                         .in_push = true,
                         .nature = {.marks = true, .repairs_fail = true}};

TEST(ShellRepairs, WhenATornCallFails_ItsErrorIsToldAndItIsCounted) {
  EXPECT_GT(LostOf(kTorn, 2 * kSeeds), 0u);
}

TEST(ShellRepairsMutation, WhenATornCallIsNotCounted_IsCaught) {
  EXPECT_TRUE(
      Caught({.lost_updates_do_not_count = true}, kTorn, "left out where a shard lacks it"));
}

// It counts as left out everywhere, and its shards are not one.
TEST(ShellRepairsMutation, WhenAnErrorIsToldToShardsThatHaveTheChanges_IsCaught) {
  EXPECT_TRUE(Caught({.errors_win_over_changes = true}, kTorn, "workers had reported as applied"));
}

TEST(ShellRepairsMutation, WhenARepairThatFailsIsLeftOut_IsCaught) {
  EXPECT_TRUE(Caught({.repairs_are_left_out = true}, kAllPsKilled, "lost in repair"));
}

TEST(ShellRepairsMutation, WhenALostCallIsVoided_IsCaught) {
  EXPECT_TRUE(Caught({.lost_calls_are_voided = true}, kPsKilled, "does not come to an end"));
}

TEST(ShellRepairsMutation, WhenALostUpdateIsNotCounted_IsCaught) {
  EXPECT_TRUE(Caught({.lost_updates_do_not_count = true}, kPsKilled, "lost in repair"));
}

// With RestartFromMark nothing runs again: what main fetches is of one history, to the bit.
const PlannedFault kReturnsWhenLost = KilledWith({"ps-1"}, {.returns_when_lost = true});

TEST(ShellReturns, WhenAPsIsLost_TheProgramReturnsToItsMarkAndNothingRunsAgain) {
  std::uint64_t returns = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kReturnsWhenLost);
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    EXPECT_EQ(result.reopened, 0u) << "seed " << seed;
    returns += result.returns;
  }
  EXPECT_GT(returns, 0u);
}

TEST(ShellReturnsMutation, WhenAShardIsRestoredAllTheSame_IsCaught) {
  std::uint64_t reopened = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    reopened += RunSeed(seed, {.returns_are_ignored = true}, kReturnsWhenLost).reopened;
  EXPECT_GT(reopened, 0u);
}

const PlannedFault kReturnsWhenRepairFails =
    KilledWith({"ps-1"}, {.repairs_fail = true, .returns_when_repair_fails = true});

TEST(ShellReturns, WhenARepairFails_TheProgramReturnsToItsMarkAndNothingIsLost) {
  std::uint64_t returns = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kReturnsWhenRepairFails);
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    EXPECT_EQ(result.lost, 0u) << "seed " << seed;
    returns += result.returns;
  }
  EXPECT_GT(returns, 0u);
}

TEST(ShellReturnsMutation, WhenARepairThatFailsEndsNothing_IsCaught) {
  EXPECT_TRUE(
      Caught({.returns_are_ignored = true}, kReturnsWhenRepairFails, "does not come to an end"));
}

TEST(ShellReturnsMutation, WhenAMarkDoesNotSayHowManyHaveFailed_IsCaught) {
  EXPECT_TRUE(Caught({.failed_calls_are_forgotten = true}, KilledWith({"chief-0"}, {}),
                     "other calls have failed"));
}

}  // namespace
}  // namespace pstrain::simulation
