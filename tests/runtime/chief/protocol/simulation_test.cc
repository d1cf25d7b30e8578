#include "tests/runtime/chief/protocol/simulation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

namespace pstrain {
namespace {

// PSTRAIN_SIMULATION_SEEDS: how many; PSTRAIN_SIMULATION_FIRST: the first, to repeat a failing one.
std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Simulation, UnderRandomFaults_EveryShardHasEveryWorkIdExactlyOnce) {
  const std::uint64_t first = FromEnvironment("PSTRAIN_SIMULATION_FIRST", 1);
  const std::uint64_t seeds = FromEnvironment("PSTRAIN_SIMULATION_SEEDS", 10'000);
  SimulationResult total;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const SimulationResult result = Simulation(seed, {}).Run();
    ASSERT_EQ(result.error, "") << "seed " << seed;
    total.steps += result.steps;
    total.faults += result.faults;
    total.checkpoints += result.checkpoints;
    total.checkpoints_abandoned += result.checkpoints_abandoned;
    total.checkpoints_incremental += result.checkpoints_incremental;
    total.reopened += result.reopened;
    total.moves += result.moves;
    total.scalings += result.scalings;
    total.false_reports += result.false_reports;
    total.incomplete_finals += result.incomplete_finals;
    total.left_out += result.left_out;
    total.has_gradient += result.has_gradient;
    total.drained += result.drained;
    total.overdue += result.overdue;
    total.early_ends += result.early_ends;
    total.early_pulls += result.early_pulls;
    total.early_pushes += result.early_pushes;
    total.asked += result.asked;
  }
  std::cout << seeds << " seeds: " << total.steps << " steps, " << total.faults << " faults, "
            << total.checkpoints << " checkpoints, " << total.checkpoints_incremental
            << " of them incremental, " << total.checkpoints_abandoned << " abandoned, "
            << total.reopened << " work ids re-opened, " << total.moves << " shards moved, "
            << total.scalings << " changes of the number of ps, " << total.false_reports
            << " false reports, " << total.incomplete_finals << " final checkpoints refused, "
            << total.left_out << " work ids left out, " << total.has_gradient
            << " pushes given back, " << total.drained << " times drained, " << total.early_ends
            << " early ends, " << total.overdue << " grants overdue, " << total.early_pulls
            << " early pulls, " << total.early_pushes << " early pushes, " << total.asked
            << " shards asked\n";
  EXPECT_TRUE(seeds < 100 ||
              (total.faults > 0 && total.checkpoints_abandoned > 0 &&
               total.checkpoints_incremental > 0 && total.reopened > 0 && total.moves > 0 &&
               total.scalings > 0 && total.incomplete_finals > 0 && total.overdue > 0 &&
               total.early_ends > 0 && total.early_pulls > 0 && total.early_pushes > 0 &&
               total.asked > 0 && total.left_out > 0 && total.has_gradient > 0 &&
               total.drained > 0));
}

TEST(Simulation, WhenRepeated_IsTheSame) {
  const SimulationResult one = Simulation(42, {}).Run();
  const SimulationResult two = Simulation(42, {}).Run();
  EXPECT_EQ(one.steps, two.steps);
  EXPECT_EQ(one.faults, two.faults);
}

// Seeds that see the mutation, of the first 2000; it does not look for more than 3 of them.
int Caught(Mutations mutations) {
  int caught = 0;
  std::uint64_t seed = 0;
  while (caught < 3 && seed < 2000) {
    if (!Simulation(++seed, mutations).Run().error.empty()) ++caught;
  }
  std::cout << "seen by " << caught << " of " << seed << " seeds\n";
  return caught;
}

TEST(SimulationMutation, WhenAPsAppliesDuplicates_IsCaught) {
  EXPECT_GT(Caught({.ps_applies_duplicates = true}), 0);
}

TEST(SimulationMutation, WhenAPsClaimsShardsOfAnotherTerm_IsCaught) {
  EXPECT_GT(Caught({.ps_claims_terms = true}), 0);
}

TEST(SimulationMutation, WhenTheChiefIgnoresTheTermsOfReports_IsCaught) {
  EXPECT_GT(Caught({.chief_ignores_terms = true}), 0);
}

TEST(SimulationMutation, WhenTheChiefDoesNotReopen_IsCaught) {
  EXPECT_GT(Caught({.chief_does_not_reopen = true}), 0);
}

TEST(SimulationMutation, WhenACheckpointShardIsNotAtomic_IsCaught) {
  EXPECT_GT(Caught({.checkpoint_shard_not_atomic = true}), 0);
}

TEST(SimulationMutation, WhenMarksOfAnAbandonedCheckpointAreForgotten_IsCaught) {
  EXPECT_GT(Caught({.marks_forgotten_early = true}), 0);
}

// Some seeds have workers that report what no shard has applied.
TEST(SimulationMutation, WhenTheChiefBelievesAReport_IsCaught) {
  EXPECT_GT(Caught({.chief_believes_reports = true}), 0);
}

TEST(SimulationMutation, WhenAMoveIsNotAtomic_IsCaught) {
  EXPECT_GT(Caught({.move_not_atomic = true}), 0);
}

TEST(SimulationMutation, WhenShardsKeepTheHomesOfTheFormerNumberOfPs_IsCaught) {
  EXPECT_GT(Caught({.scaling_keeps_homes = true}), 0);
}

TEST(SimulationMutation, WhenTheChiefWaitsForAWorkerThatHangs_IsCaught) {
  EXPECT_GT(Caught({.chief_waits_for_hanging = true}), 0);
}

TEST(SimulationMutation, WhenAShardAppliesAnEarlyPush_IsCaught) {
  EXPECT_GT(Caught({.ps_applies_early = true}), 0);
}

TEST(SimulationMutation, WhenAShardServesAnEarlyPull_IsCaught) {
  EXPECT_GT(Caught({.ps_serves_early = true}), 0);
}

// Somebody has reported what a shard never had, and everything behind it is early.
TEST(SimulationMutation, WhenTheChiefDoesNotAskAShardThatIsEarly_IsCaught) {
  EXPECT_GT(Caught({.chief_ignores_early = true}), 0);
}

TEST(SimulationMutation, WhenACheckpointIsDeletedThatOthersBuildOn_IsCaught) {
  EXPECT_GT(Caught({.retention_ignores_bases = true}), 0);
}

// It grants before every shard has an owner that holds it.
TEST(SimulationMutation, WhenTheChiefTakesASentAssignmentForDone_IsCaught) {
  EXPECT_GT(Caught({.chief_takes_sent_for_done = true}), 0);
}

// Final checkpoints lack it again and again.
TEST(SimulationMutation, WhenAGradientDoesNotReplaceWhatWasLeftOut_IsCaught) {
  EXPECT_GT(Caught({.left_out_for_good = true}), 0);
}

TEST(SimulationMutation, WhenTheChiefDoesNotHearWhatWasLeftOut_IsCaught) {
  EXPECT_GT(Caught({.left_out_is_not_told = true}), 0);
}

TEST(SimulationMutation, WhenACheckpointIsPlacedThoughATermHasChanged_IsCaught) {
  EXPECT_GT(Caught({.checkpoints_ignore_terms = true}), 0);
}

TEST(SimulationMutation, WhenTheWorkOfALostWorkerIsNotReturned_IsCaught) {
  EXPECT_GT(Caught({.lost_work_is_not_returned = true}), 0);
}

TEST(SimulationMutation, WhenTheOldestCopyOfAShardIsKept_IsCaught) {
  EXPECT_GT(Caught({.oldest_copy_is_kept = true}), 0);
}

TEST(SimulationMutation, WhenANewChiefDoesNotWaitForAllCopies_IsCaught) {
  EXPECT_GT(Caught({.restored_before_all_came = true}), 0);
}

TEST(SimulationMutation, WhenASupersededChiefGoesOn_IsCaught) {
  EXPECT_GT(Caught({.superseded_chiefs_go_on = true}), 0);
}

TEST(SimulationMutation, WhenAllAreReleasedWithoutACheckpoint_IsCaught) {
  EXPECT_GT(Caught({.released_without_checkpoint = true}), 0);
}

TEST(SimulationMutation, WhenAnEarlyEndForgetsWhatWasGranted_IsCaught) {
  EXPECT_GT(Caught({.early_end_forgets_granted = true}), 0);
}

TEST(SimulationMutation, WhenGrantsGoOnWhileAnEarlyEndIsDecided_IsCaught) {
  EXPECT_GT(Caught({.grants_while_end_is_decided = true}), 0);
}

TEST(SimulationMutation, WhenANewChiefForgetsAnEarlyEnd_IsCaught) {
  EXPECT_GT(Caught({.early_end_is_forgotten = true}), 0);
}

}  // namespace
}  // namespace pstrain
