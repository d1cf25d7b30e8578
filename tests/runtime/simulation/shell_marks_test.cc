// A program that saves marks, and the loss of its chief: what the next main goes on from, and what
// nobody sees again.

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <string>

#include "tests/runtime/simulation/seed_process.h"
#include "tests/runtime/simulation/shell_result.h"

namespace pstrain::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kSeeds = 3;
/// As long as it takes until most seeds have a mark.
constexpr seconds kBegins{8};
constexpr Nature kMarks{.marks = true};

/// Runs the seeds, and returns how often a main began at a mark.
std::uint64_t ReturnsOf(const PlannedFault& fault, std::uint64_t seeds = kSeeds) {
  std::uint64_t returns = 0;
  std::uint64_t struck = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, fault);
    struck += result.faults;
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    returns += result.returns;
  }
  // In the others the program has ended by then, or has no mark yet.
  EXPECT_GT(2 * struck, seeds);
  return returns;
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

const PlannedFault kChiefKilled{.killed = {"chief-0"}, .begins = kBegins, .nature = kMarks};

TEST(ShellMarks, WhenTheChiefIsKilled_TheNextMainGoesOnFromTheMark) {
  EXPECT_GT(ReturnsOf(kChiefKilled), 0u);
}

TEST(ShellMarks, WhenAllAreKilled_TheNextMainGoesOnFromTheMark) {
  EXPECT_GT(ReturnsOf({.killed = {"chief-0", "ps-0", "ps-1", "worker-0", "worker-1"},
                       .begins = kBegins,
                       .nature = kMarks}),
            0u);
}

// What was told of a mark that was on its way is true.
TEST(ShellMarks, WhenTheChiefIsKilledInASave_TheMarkIsThereOrTheOneBefore) {
  EXPECT_GT(ReturnsOf({.killed = {"chief-0"}, .at_mark = 2, .nature = kMarks}, 2 * kSeeds), 0u);
}

TEST(ShellMarks, WhenTheChiefLosesItsPowerInASave_TheMarkIsThereOrTheOneBefore) {
  EXPECT_GT(ReturnsOf({.at_mark = 2, .power_lost = "chief-0", .nature = kMarks}, 2 * kSeeds), 0u);
}

TEST(ShellMarks, WhenAPsIsKilledInASave_TheSaveIsTakenAgain) {
  ReturnsOf({.killed = {"ps-1"}, .at_mark = 2, .nature = kMarks});
}

// Its ps and workers are those of the next chief by then.
TEST(ShellMarks, WhenTwoChiefsAreThereAtOnce_OneHistoryGoesOn) {
  EXPECT_GT(ReturnsOf({.abandoned = "chief-0", .begins = kBegins, .nature = kMarks}), 0u);
}

// It comes back with what it had after the mark.
const PlannedFault kPsPaused{.killed = {"chief-0"},
                             .paused = "ps-1",
                             .lasts = seconds(4),
                             .begins = kBegins,
                             .nature = kMarks};

TEST(ShellMarks, WhenAPsComesBackLate_NothingThatItHasIsSeen) {
  EXPECT_GT(ReturnsOf(kPsPaused), 0u);
}

// It has what the former chief has granted.
const PlannedFault kWorkerPaused{.killed = {"chief-0", "ps-0"},
                                 .paused = "worker-1",
                                 .lasts = seconds(4),
                                 .begins = kBegins,
                                 .nature = kMarks};

TEST(ShellMarks, WhenAWorkerWakesWithOldWork_NothingOfItIsApplied) {
  EXPECT_GT(ReturnsOf(kWorkerPaused), 0u);
}

// A Save lands when the next chief has begun at the mark before, and that one is lost before it has
// saved anything.
const PlannedFault kLate{.abandoned = "chief-0",
                         .lasts = seconds(2),
                         .at_mark = 2,
                         .mark_is_late = true,
                         .killed_later = "chief-0",
                         .later = milliseconds(2500),
                         .nature = kMarks};

TEST(ShellMarks, WhenASaveLandsLate_ItIsOfNoHistory) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kLate);
    EXPECT_EQ(result.faults, 1u) << "seed " << seed << ": there is no such mark";
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    EXPECT_GE(result.returns, 2u) << "seed " << seed;
  }
}

TEST(ShellMarksMutation, WhenAMarkOfAnAbandonedHistoryIsUsed_IsCaught) {
  EXPECT_TRUE(Caught({.marks_of_all_histories_count = true}, kLate, "of a history that is over"));
}

TEST(ShellMarksMutation, WhenAChiefDoesNotNoteWhereItBegins_IsCaught) {
  EXPECT_TRUE(Caught({.histories_are_not_noted = true}, kChiefKilled, "behind what was saved"));
}

TEST(ShellMarksMutation, WhenASaveThatLandsLateIsTold_IsCaught) {
  EXPECT_TRUE(Caught({.late_marks_are_told = true}, kLate, "main is told that its mark"));
}

TEST(ShellMarksMutation, WhenAFormerPsIsAdopted_IsCaught) {
  EXPECT_TRUE(Caught({.former_ps_are_adopted = true}, kPsPaused, "of former ones"));
}

// Rule 7, of a program: what was committed runs again where it was lost.
const PlannedFault kPsKilled{.killed = {"ps-1"}, .begins = kBegins, .nature = kMarks};

TEST(ShellMarks, WhenAPsIsKilled_NothingThatWasFetchedChanges) { ReturnsOf(kPsKilled); }

TEST(ShellMarksMutation, WhenTheLogIsFreedAtCommit_IsCaught) {
  EXPECT_TRUE(Caught({.log_is_freed_at_commit = true}, kPsKilled, ""));
}

TEST(ShellMarksMutation, WhenTheResultOfTheSecondAttemptCounts_IsCaught) {
  const PlannedFault moves{.stopped = "ps-1", .begins = kBegins, .nature = kMarks};
  EXPECT_TRUE(Caught({.last_result_counts = true}, moves,
                     "what the first attempt that was reported has", 20 * kSeeds));
}

// A ps that comes back with less serves nothing to a call that is after what it lacks.
TEST(ShellMarksMutation, WhenACallThatChangesNothingDoesNotWaitForAShard_IsCaught) {
  EXPECT_TRUE(Caught({.looks_do_not_wait = true}, kPsKilled, "a call that changes nothing has seen",
                     20 * kSeeds));
}

// Atomic calls, which change every shard by what they have drawn.
TEST(ShellMarks, WhenAWorkerIsKilled_AllShardsHaveWhatOneAttemptDrew) {
  ReturnsOf({.killed = {"worker-0"}, .begins = kBegins, .nature = kMarks});
}

TEST(ShellMarksMutation, WhenASecondAttemptOfAnAtomicCallComputesAgain_IsCaught) {
  EXPECT_TRUE(Caught({.prepared_is_not_told = true}, kPsKilled, "drawn["));
}

// Attempts return after their deadlines, while a worker is killed.
const PlannedFault kMisses{
    .killed = {"worker-0"}, .begins = kBegins, .nature = {.marks = true, .calls_miss = true}};

TEST(ShellMarks, WhenAttemptsMissTheirDeadlines_WhatTheyComeToCountsNowhere) { ReturnsOf(kMisses); }

TEST(ShellMarks, WhenAttemptsMissTheirDeadlinesAndAPsIsKilled_EachCallCountsOnce) {
  PlannedFault ps_killed = kMisses;
  ps_killed.killed = {"ps-1"};
  ReturnsOf(ps_killed);
}

TEST(ShellMarksMutation, WhenWhatAMissedAttemptComesToCounts_IsCaught) {
  EXPECT_TRUE(Caught({.missed_attempts_count = true}, kMisses, "that was given up"));
}

// A call that has succeeded fails when it runs again for the shards that were lost.
const PlannedFault kFailsAgain{
    .killed = {"ps-1"}, .begins = kBegins, .nature = {.marks = true, .calls_fail_again = true}};

TEST(ShellMarks, WhenACallFailsInItsSecondAttempt_AllShardsHaveItOrNone) { ReturnsOf(kFailsAgain); }

}  // namespace
}  // namespace pstrain::simulation
