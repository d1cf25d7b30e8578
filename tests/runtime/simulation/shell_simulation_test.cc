#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/runtime/simulation/mutations.h"
#include "tests/runtime/simulation/seed_process.h"
#include "tests/runtime/simulation/shell_result.h"

namespace pstrain::simulation {
namespace {

// PSTRAIN_SIMULATION_SEEDS: how many of the commit protocol's; one in 20 of them is run here, where
// a seed is a whole job. PSTRAIN_SIMULATION_FIRST: the first, to repeat a failing one.
constexpr std::uint64_t kShare = 20;

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(ShellSimulation, UnderRandomFaults_TheJobEndsExactly) {
  const std::uint64_t first = FromEnvironment("PSTRAIN_SIMULATION_FIRST", 1);
  const std::uint64_t seeds =
      (FromEnvironment("PSTRAIN_SIMULATION_SEEDS", 10'000) + kShare - 1) / kShare;
  ShellResult total;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const ShellResult result = RunSeed(seed);
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    total.faults += result.faults;
    total.long_faults += result.long_faults;
    total.switches += result.switches;
    total.starts += result.starts;
    total.checkpoints += result.checkpoints;
    total.abandoned += result.abandoned;
    total.reopened += result.reopened;
    total.duplicates += result.duplicates;
    total.evaluations += result.evaluations;
    total.refused += result.refused;
    total.disk_errors += result.disk_errors;
    total.disk_lost += result.disk_lost;
    total.names_hidden += result.names_hidden;
    total.declared += result.declared;
    total.early_pulls += result.early_pulls;
    total.early_pushes += result.early_pushes;
    total.seconds += result.seconds;
  }
  std::cout << seeds << " seeds from " << first << ": " << total.seconds << " simulated s, "
            << total.switches << " switches, " << total.faults << " faults, " << total.long_faults
            << " of them of a minute and more, " << total.starts << " starts, " << total.checkpoints
            << " checkpoints, " << total.abandoned << " abandoned, " << total.reopened
            << " batches re-opened, " << total.duplicates << " duplicates, " << total.evaluations
            << " evaluations, " << total.refused << " refused reports, " << total.disk_errors
            << " errors of the disk, " << total.disk_lost << " files or names lost, "
            << total.names_hidden << " names not listed yet, " << total.declared
            << " variables declared, " << total.early_pulls << " early pulls, "
            << total.early_pushes << " early pushes\n";
  EXPECT_TRUE(seeds < 300 || (total.long_faults > 0 && total.declared > 0 &&
                              total.early_pulls + total.early_pushes > 0));
}

TEST(ShellSimulation, WhenRepeated_IsTheSame) {
  // The second one declares a variable.
  for (const std::uint64_t seed : {7u, 8u}) {
    const ShellResult one = RunSeed(seed);
    const ShellResult two = RunSeed(seed);
    EXPECT_EQ(one.switches, two.switches);
    EXPECT_EQ(one.seconds, two.seconds);
    EXPECT_EQ(one.declared, seed == 8 ? 1u : 0u);
  }
}

// Enough for a mutation that one seed in some hundreds sees, however a build deals the histories.
constexpr std::uint64_t kMostSeeds = 4000;

// A seed sees the mutation.
bool Caught(const Mutations& mutations, std::uint64_t seeds = kMostSeeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const ShellResult result = RunSeed(seed, mutations);
    if (*result.error == '\0') continue;
    std::cout << "seed " << seed << " sees it: " << result.error << '\n';
    return true;
  }
  return false;
}

TEST(ShellMutation, WhenCheckpointShardsAreNotSynced_IsCaught) {
  EXPECT_TRUE(Caught({.shards_not_synced = true}));
}

TEST(ShellMutation, WhenNamesAreNotSynced_IsCaught) {
  EXPECT_TRUE(Caught({.folders_not_synced = true}));
}

// The chief reads itself what a ps finds damaged.
TEST(ShellMutation, WhenAPsTakesAnErrorOfTheDiskForDamage_NoCheckpointIsGivenUp) {
  EXPECT_FALSE(Caught({.errors_are_damage = true}, 300));
}

TEST(ShellMutation, WhenTheChiefBelievesAPsThatFindsDamage_IsCaught) {
  EXPECT_TRUE(Caught({.errors_are_damage = true, .damage_is_believed = true}));
}

TEST(ShellMutation, WhenAWorkerReportsAFailedPush_IsCaught) {
  EXPECT_TRUE(Caught({.failed_pushes_are_reported = true}));
}

TEST(ShellMutation, WhenThePinIsIgnored_IsCaught) {
  EXPECT_TRUE(Caught({.pins_are_ignored = true}));
}

TEST(ShellMutation, WhenALostPsIsNotToldToRegister_IsCaught) {
  EXPECT_TRUE(Caught({.lost_ps_are_known = true}));
}

TEST(ShellMutation, WhenWorkersDoNotHearOfNewOwners_IsCaught) {
  EXPECT_TRUE(Caught({.memberships_are_not_told = true}));
}

TEST(ShellMutation, WhenALatePollCounts_IsCaught) {
  EXPECT_TRUE(Caught({.late_polls_count = true}));
}

// Two chiefs then have ps of their own: a later one restores what the former has passed by, or
// neither gets on.
TEST(ShellMutation, WhenASupersededChiefGoesOn_IsCaught) {
  EXPECT_TRUE(Caught({.later_chiefs_are_unseen = true}));
}

TEST(ShellMutation, WhenWorkersAreToldToEndBeforeTheResult_IsCaught) {
  EXPECT_TRUE(Caught({.finish_is_told_early = true}));
}

TEST(ShellMutation, WhenNoCheckpointIsFullAgain_IsCaught) {
  EXPECT_TRUE(Caught({.chains_are_endless = true}));
}

TEST(ShellMutation, WhenACopyThatWasTakenOverStaysWithoutNewVariables_IsCaught) {
  EXPECT_TRUE(Caught({.copies_do_not_grow = true}));
}

TEST(ShellMutation, WhenAllShardsOfAPsAreCopiedTogether_IsCaught) {
  EXPECT_TRUE(Caught({.shards_are_copied_together = true}));
}

}  // namespace
}  // namespace pstrain::simulation
