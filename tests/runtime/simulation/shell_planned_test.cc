// Faults that end, planned one at a time: a chief that stands still, a disk that fails. The job
// goes on as if nothing had been.

#include <gtest/gtest.h>

#include <cerrno>
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
/// Of the seeds, half have the next chief on another node.
constexpr std::uint64_t kNodeSeeds = 4;

// Longer than what makes a peer count as lost: 10 s for a ps, 15 s for a worker, 20 s for a link.
const PlannedFault kChiefPaused{.paused = "chief-0", .lasts = seconds(30)};

TEST(ShellPausedChief, WhenItGoesOn_NobodyIsLost) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kChiefPaused);
    EXPECT_EQ(result.faults, 1u) << "seed " << seed << ": the job does not train then";
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    EXPECT_EQ(result.lost_peers, 0u) << "seed " << seed;
    EXPECT_EQ(result.restores, 0u) << "seed " << seed;
    EXPECT_EQ(result.starts, kReplicas) << "seed " << seed;
  }
}

TEST(ShellPlannedMutation, WhenThePauseOfAChiefCounts_IsCaught) {
  const ShellResult result = RunSeed(1, {.pauses_of_chief_count = true}, kChiefPaused);
  EXPECT_GT(result.lost_peers, 0u) << result.error;
}

// The ps can read nothing for so long, and one of them has to be restored. With growing pauses the
// chief has tried about ten times by then.
const PlannedFault kRestoresFail{.killed = {"ps-1"},
                                 .failing_disks = {"ps-0", "ps-1"},
                                 .error_number = EIO,
                                 .lasts = seconds(40)};
constexpr std::uint64_t kMostRestores = 25;

TEST(ShellFailingDisk, WhenAPsIsRestored_TheSameCheckpointIsTriedAgainAfterPauses) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kRestoresFail);
    EXPECT_EQ(result.faults, 1u) << "seed " << seed << ": the job does not train then";
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    EXPECT_GT(result.restores, 1u) << "seed " << seed;
    EXPECT_LT(result.restores, kMostRestores) << "seed " << seed;
  }
}

// Nobody can write anything for so long. With growing pauses the chief has tried some 25 times by
// then, and eight times in the first minute.
PlannedFault DiskFull(seconds lasts) {
  return {.failing_disks = {"chief-0", "ps-0", "ps-1", "worker-0", "worker-1", "evaluator-0"},
          .error_number = ENOSPC,
          .lasts = lasts};
}
constexpr std::uint64_t kMostAbandoned = 30;

TEST(ShellFailingDisk, WhenACheckpointIsPlaced_ItIsTriedAgainAfterPauses) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, DiskFull(seconds(600)));
    EXPECT_EQ(result.faults, 1u) << "seed " << seed << ": the job does not train then";
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    EXPECT_GT(result.abandoned, 1u) << "seed " << seed;
    EXPECT_LT(result.abandoned, kMostAbandoned) << "seed " << seed;
  }
}

// For longer than anybody waits for a peer.
const PlannedFault kNeverRestored{.killed = {"ps-1"},
                                  .failing_disks = {"ps-0", "ps-1"},
                                  .error_number = EIO,
                                  .lasts = 2 * kPlannedPatience};
constexpr const char* kWhyNotRestored = "Input/output error) within spec.training.peerTimeout";

TEST(ShellFailingDisk, WhenNoPsCanBeRestored_TheJobFailsInTimeAndSaysWhy) {
  const ShellResult result = RunSeed(1, {}, kNeverRestored);
  EXPECT_NE(std::string(result.error).find(kWhyNotRestored), std::string::npos) << result.error;
  EXPECT_LT(result.seconds_after_last_fault, 0) << "the disk had been well for so many seconds";
}

TEST(ShellPlannedMutation, WhenTheChiefWaitsForAnOwnerForEver_IsCaught) {
  const ShellResult result = RunSeed(1, {.chief_waits_for_ever = true}, kNeverRestored);
  EXPECT_EQ(std::string(result.error).find(kWhyNotRestored), std::string::npos);
}

// A run is stopped and resumed, and its evaluator can read nothing for so long: longer than all the
// rest of the job takes.
const PlannedFault kRestoredUnread{.failing_disks = {"evaluator-0"},
                                   .error_number = EIO,
                                   .lasts = seconds(400),
                                   .suspended = true};

TEST(ShellResumed, WhenTheRestoredStateIsNotEvaluated_TheJobGoesOnWithout) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kRestoredUnread);
    EXPECT_EQ(result.faults, 1u) << "seed " << seed << ": the job does not train then";
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    EXPECT_GE(result.starts, 2 * kReplicas) << "seed " << seed;
    EXPECT_LT(result.seconds_after_last_fault, 0) << "seed " << seed;
  }
}

TEST(ShellPlannedMutation, WhenTheRestoredStateIsAwaitedForEver_IsCaught) {
  const ShellResult result = RunSeed(1, {.restored_state_has_no_deadline = true}, kRestoredUnread);
  EXPECT_GT(result.seconds_after_last_fault, 0) << result.error;
}

// The evaluator stands still in the middle of a checkpoint, and says nothing to the next chief
// while that one places others.
const PlannedFault kEvaluatorReads{.killed = {"chief-0"},
                                   .paused = "evaluator-0",
                                   .lasts = seconds(20),
                                   .evaluator_reads_for = std::chrono::milliseconds(1000)};

TEST(ShellPins, WhenTheChiefIsReplaced_WhatTheEvaluatorReadsStays) {
  for (std::uint64_t seed = 1; seed <= kNodeSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kEvaluatorReads);
    EXPECT_EQ(result.faults, 1u) << "seed " << seed << ": the job does not train then";
    EXPECT_STREQ(result.error, "") << "seed " << seed;
  }
}

TEST(ShellPlannedMutation, WhenANewChiefDoesNotWaitForThePin_IsCaught) {
  bool caught = false;
  for (std::uint64_t seed = 1; seed <= kNodeSeeds && !caught; ++seed) {
    const std::string error = RunSeed(seed, {.pins_are_not_awaited = true}, kEvaluatorReads).error;
    caught = error.find("the evaluator was told to read") != std::string::npos;
  }
  EXPECT_TRUE(caught);
}

// All but the evaluator begin again, and a chief on another node does not see the newest checkpoint
// in its listing: it is restored all the same (ShellSimulation::CheckRestored).
const PlannedFault kListingIsOld{.killed = {"chief-0", "ps-0", "ps-1"},
                                 .stale_listings = seconds(60)};

TEST(ShellOldListing, WhenAllAreRestored_TheNewestCheckpointIsFound) {
  for (std::uint64_t seed = 1; seed <= kNodeSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kListingIsOld);
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    EXPECT_GT(result.restores, 0u) << "seed " << seed;
  }
}

TEST(ShellPlannedMutation, WhenTheNewestCheckpointIsNotNoted_IsCaught) {
  bool caught = false;
  for (std::uint64_t seed = 1; seed <= kNodeSeeds && !caught; ++seed) {
    const std::string error = RunSeed(seed, {.newest_is_not_noted = true}, kListingIsOld).error;
    caught = error.find("is there") != std::string::npos;
  }
  EXPECT_TRUE(caught);
}

// Rule 8: a worker stands still, and its successor is with the next chief when it goes on.
const PlannedFault kFormerComesBack{
    .killed = {"chief-0"}, .abandoned = "worker-1", .paused = "worker-1", .lasts = seconds(5)};

TEST(ShellAbandoned, WhenItGoesOn_ItsSuccessorStays) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kFormerComesBack);
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    EXPECT_EQ(result.starts, kReplicas + 2) << "seed " << seed;
  }
}

TEST(ShellPlannedMutation, WhenAttemptsAreNotTold_IsCaught) {
  EXPECT_GT(RunSeed(1, {.attempts_are_not_told = true}, kFormerComesBack).starts, kReplicas + 2);
}

TEST(ShellPlannedMutation, WhenPausesDoNotGrow_ReadingOfACheckpointShowsIt) {
  EXPECT_GE(RunSeed(1, {.pauses_do_not_grow = true}, kRestoresFail).restores, kMostRestores);
}

TEST(ShellPlannedMutation, WhenPausesDoNotGrow_PlacingOfACheckpointShowsIt) {
  // The first minute is enough to see it.
  const ShellResult result = RunSeed(1, {.pauses_do_not_grow = true}, DiskFull(seconds(60)));
  EXPECT_GE(result.abandoned, kMostAbandoned);
}

}  // namespace
}  // namespace pstrain::simulation
