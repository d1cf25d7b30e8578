// Tokens of a cluster, while peers stand still and are replaced: no honest peer is locked out for
// ever, and nobody is let in as an attempt that it is not.

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/runtime/simulation/seed_process.h"
#include "tests/runtime/simulation/shell_result.h"

namespace pstrain::simulation {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kSeeds = 2;
/// Chief, two ps, two workers, evaluator.
constexpr std::uint64_t kReplicas = 6;

// A ps stands still until its tokens have expired, a worker is replaced meanwhile, and then for
// 20 s everybody's have.
const PlannedFault kTokensExpire{.abandoned = "worker-1",
                                 .paused = "ps-1",
                                 .lasts = seconds(30),
                                 .identified = true,
                                 .no_new_tokens = seconds(45)};

TEST(ShellIdentity, WhenTokensAreReplacedTooLate_ThePeersAreLetInAgain) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kTokensExpire);
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    EXPECT_GT(result.refused_expired, 0u) << "seed " << seed;
    EXPECT_EQ(result.refused_others, 0u) << "seed " << seed;
  }
}

TEST(ShellIdentityMutation, WhenAnExpiredTokenIsRefusedForGood_IsCaught) {
  EXPECT_STRNE(RunSeed(1, {.expired_is_for_good = true}, kTokensExpire).error, "");
}

TEST(ShellIdentity, WhenSomebodySaysToBeTheNextAttempt_TheTrueOneStays) {
  for (const char* const replica : {"ps-1", "worker-1"}) {
    const ShellResult result =
        RunSeed(1, {}, PlannedFault{.identified = true, .impostor = replica});
    EXPECT_STREQ(result.error, "") << replica;
    EXPECT_GT(result.refused_others, 0u) << replica;
    EXPECT_EQ(result.lost_peers, 0u) << replica;
    EXPECT_EQ(result.starts, kReplicas + 1) << replica;
  }
}

TEST(ShellIdentityMutation, WhenCallersAreBelieved_IsCaught) {
  for (const char* const replica : {"ps-1", "worker-1"}) {
    const ShellResult result = RunSeed(1, {.callers_are_believed = true},
                                       PlannedFault{.identified = true, .impostor = replica});
    EXPECT_TRUE(*result.error != '\0' || result.lost_peers > 0) << replica;
  }
}

}  // namespace
}  // namespace pstrain::simulation
