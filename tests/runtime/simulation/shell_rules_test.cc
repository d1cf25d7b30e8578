// Rules that random faults alone do not reach, or that only a planned job can show: each with the
// code that keeps it, and with that code broken.

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <string>

#include "runtime/worker/step_loop.h"
#include "tests/runtime/simulation/seed_process.h"
#include "tests/runtime/simulation/shell_result.h"

namespace pstrain::simulation {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kSeeds = 2;

// Rule 2: all updates that a gradient did not know of are the worker's own.
const PlannedFault kOneWorker{.workers = 1};
constexpr std::uint64_t kMostStale = StepLoop::kPullAhead + 3;

TEST(ShellStaleness, OfOneWorker_IsAtMostItsStepsUnderWay) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kOneWorker);
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    EXPECT_GT(result.most_stale, 0u) << "seed " << seed;
    EXPECT_LE(result.most_stale, kMostStale) << "seed " << seed;
  }
}

TEST(ShellRuleMutation, WhenAWorkerPullsFarAhead_IsCaught) {
  EXPECT_GT(RunSeed(1, {.steps_run_ahead = true}, kOneWorker).most_stale, kMostStale);
}

// Rule 13: one ps hears of the variables later than the other.
const PlannedFault kDeclared{.lasts = seconds(4), .cut_while_declaring = {{"chief-0", "ps-1"}}};

TEST(ShellDeclared, WhileAPsDoesNotKnowOfIt_NothingIsGranted) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kDeclared);
    EXPECT_EQ(result.faults, 1u) << "seed " << seed << ": the job does not train then";
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    EXPECT_EQ(result.lost_peers, 0u) << "seed " << seed;
  }
}

TEST(ShellRuleMutation, WhenNewsAreNotAwaited_IsCaught) {
  const std::string error = RunSeed(1, {.news_are_not_awaited = true}, kDeclared).error;
  EXPECT_NE(error.find("before a ps knows of new variables"), std::string::npos) << error;
}

TEST(ShellRuleMutation, WhenACheckpointDoesNotNameItsGeneration_IsCaught) {
  const std::string error = RunSeed(1, {.generations_are_not_noted = true}, kDeclared).error;
  EXPECT_NE(error.find("is of a later generation than it holds"), std::string::npos) << error;
}

// Sums of gradients that are finite overflow in the ps.
const PlannedFault kOverflows{.learning_rate = "2.1267647932558654e+37"};
constexpr const char* kNotFinite = "is infinite or not a number after epoch";

TEST(ShellNonFinite, WhenItArisesInAPs_TheJobFailsAndNamesTheVariable) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::string error = RunSeed(seed, {}, kOverflows).error;
    EXPECT_NE(error.find(kNotFinite), std::string::npos) << "seed " << seed << ": " << error;
    EXPECT_NE(error.find("variable constant/"), std::string::npos) << "seed " << seed;
  }
}

TEST(ShellRuleMutation, WhenAPsDoesNotSayWhatIsNotFinite_IsCaught) {
  const std::string error = RunSeed(1, {.non_finite_is_not_told = true}, kOverflows).error;
  EXPECT_EQ(error.find(kNotFinite), std::string::npos) << error;
}

TEST(ShellRuleMutation, WhenAPsDoesNotLookWhatIsFinite_IsCaught) {
  const std::string error = RunSeed(1, {.non_finite_is_not_seen = true}, kOverflows).error;
  EXPECT_EQ(error.find(kNotFinite), std::string::npos) << error;
}

// Rule 3, of work that dies with its chief: workers hear later than shards that there is another.
// Work that needs the ps that is killed too goes on when they hear.
const PlannedFault kProgram{.killed = {"chief-0", "ps-1"},
                            .nature = {.grants_name_their_chief = true}};

TEST(ShellGrantTerm, WhenTheChiefIsReplaced_NoShardServesWorkOfTheFormerOne) {
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kProgram);
    EXPECT_EQ(result.faults, 1u) << "seed " << seed << ": the job does not train then";
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    refused += result.other_chief;
  }
  EXPECT_GT(refused, 0u);
}

bool Caught(const Mutations& mutations, const PlannedFault& fault, std::uint64_t seeds,
            const std::string& says = {}) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const ShellResult result = RunSeed(seed, mutations, fault);
    if (*result.error == '\0' || std::string(result.error).find(says) == std::string::npos)
      continue;
    std::cout << "seed " << seed << " sees it: " << result.error << '\n';
    return true;
  }
  return false;
}

TEST(ShellRuleMutation, WhenShardsDoNotAskWhoHasGranted_IsCaught) {
  EXPECT_TRUE(Caught({.chiefs_of_grants_are_ignored = true}, kProgram, kSeeds));
}

// Rule 3, of work that waits for other work: the shards of a ps are restored from before what the
// workers have begun, or move.
const PlannedFault kPhases{.killed = {"ps-1"}, .nature = {.closures = 1000}};
const PlannedFault kPhasesMove{.stopped = "ps-1", .nature = {.closures = 1000}};
constexpr std::uint64_t kPhaseSeeds = 4;

TEST(ShellPhases, WhenShardsAreRestored_NoneServesWhatWaitsForWorkThatItLacks) {
  std::uint64_t early = 0;
  for (std::uint64_t seed = 1; seed <= kPhaseSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kPhases);
    EXPECT_EQ(result.faults, 1u) << "seed " << seed << ": the job does not train then";
    EXPECT_STREQ(result.error, "") << "seed " << seed;
    early += result.early_pulls + result.early_pushes;
  }
  EXPECT_GT(early, 0u);
}

TEST(ShellPhases, WhenShardsMove_TheJobEndsExactly) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kPhasesMove);
    EXPECT_EQ(result.faults, 1u) << "seed " << seed << ": the job does not train then";
    EXPECT_STREQ(result.error, "") << "seed " << seed;
  }
}

TEST(ShellRuleMutation, WhenAnEarlyPullIsServed_IsCaught) {
  EXPECT_TRUE(
      Caught({.early_pulls_are_served = true}, kPhases, 4 * kPhaseSeeds, "a closure has seen"));
}

TEST(ShellRuleMutation, WhenAnEarlyPushIsApplied_IsCaught) {
  EXPECT_TRUE(Caught({.early_pushes_are_applied = true}, kPhases, kPhaseSeeds,
                     "an early push was applied"));
}

// Rule 4: what came of a call is known by its report.
TEST(ShellRuleMutation, WhenCopiesCommitCalls_IsCaught) {
  EXPECT_TRUE(Caught({.copies_commit_calls = true}, kPhasesMove, kSeeds, "the chief was told"));
}

// A file system on which two create one file, and whose listings are late: two chiefs take one
// term.
const PlannedFault kOneTerm{
    .abandoned = "chief-0", .stale_listings = seconds(30), .nature = {.two_create_one_file = true}};
/// Of the seeds, half have the next chief on another node.
constexpr std::uint64_t kNodeSeeds = 4;

TEST(ShellChiefIds, WhenTwoChiefsTakeOneTerm_TheJobGoesOnWithOne) {
  for (std::uint64_t seed = 1; seed <= kNodeSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kOneTerm);
    EXPECT_EQ(result.faults, 1u) << "seed " << seed << ": the job does not train then";
    EXPECT_STREQ(result.error, "") << "seed " << seed;
  }
}

// No ps knows of the former chief then; the workers do.
const PlannedFault kOneTermOfNewPs{.killed = {"ps-0", "ps-1"},
                                   .abandoned = "chief-0",
                                   .stale_listings = seconds(30),
                                   .nature = {.two_create_one_file = true}};

TEST(ShellChiefIds, WhenTwoChiefsTakeOneTermAndNoPsKnowsTheFirst_TheJobGoesOnWithOne) {
  for (std::uint64_t seed = 1; seed <= kNodeSeeds; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kOneTermOfNewPs);
    EXPECT_EQ(result.faults, 1u) << "seed " << seed << ": the job does not train then";
    EXPECT_STREQ(result.error, "") << "seed " << seed;
  }
}

TEST(ShellRuleMutation, WhenAChiefDoesNotCompareItsId_IsCaught) {
  EXPECT_TRUE(Caught({.chiefs_share_terms = true}, kOneTerm, kNodeSeeds));
}

TEST(ShellRuleMutation, WhenAPsDoesNotCompareTheIdsOfChiefs_IsCaught) {
  // By the workers' word one of the two ends before.
  EXPECT_TRUE(Caught({.ps_ignore_chief_ids = true, .workers_ignore_chief_ids = true}, kOneTerm,
                     kNodeSeeds, "a ps serves two chiefs of term"));
}

TEST(ShellRuleMutation, WhenAWorkerDoesNotNameTheChiefThatItHasHeard_IsCaught) {
  EXPECT_TRUE(Caught({.workers_ignore_chief_ids = true}, kOneTermOfNewPs, kNodeSeeds,
                     "reports of honest workers were refused"));
}

}  // namespace
}  // namespace pstrain::simulation
