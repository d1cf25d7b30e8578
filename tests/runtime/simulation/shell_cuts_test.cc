// Each pair of roles that speak loses each direction of its link for ever.

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>

#include "tests/runtime/simulation/seed_process.h"
#include "tests/runtime/simulation/shell_simulation.h"

namespace pstrain::simulation {
namespace {

struct CutCase {
  PlannedFault fault;
  /// Empty: the job survives. Else it fails, and the message has this.
  std::string names = {};
  /// Simulated, from the cut on.
  double within_seconds = 0;
};

std::string NameOf(const CutCase& one) {
  std::string name;
  for (const auto& [from, to] : one.fault.cut) {
    name += (name.empty() ? "" : "And") + from + "To" + to;
  }
  std::erase(name, '-');
  return name;
}
void PrintTo(const CutCase& one, std::ostream* out) { *out << NameOf(one); }

// A ps whose calls the chief does not get, or whose answers do not come, gives the chief up after
// peerTimeoutSeconds. The chief has given the ps up after 20 s at the most, and would fail the job
// as long after that.
constexpr double kPatience = kPlannedPatience.count();
constexpr double kFails = kPatience + 40;
// What a worker that is cut off has goes to the other one after 15 s, and the job trains on.
constexpr double kTrains = 120;
// The end waits for the final evaluation for 30 s.
constexpr double kEnds = kTrains + 40;

constexpr const char* kPsGivesUp = "ps-1 failed: DEADLINE_EXCEEDED: the chief at chief:2000";

constexpr const char* kStalled = "no batch was committed for 60 s: worker 0 -> ps 1 (";
const PlannedFault kNobodyReachesPs1{.cut = {{"worker-0", "ps-1"}, {"worker-1", "ps-1"}}};

const CutCase kCases[] = {
    {{.cut = {{"chief-0", "ps-1"}}}, kPsGivesUp, kFails},
    {{.cut = {{"ps-1", "chief-0"}}}, kPsGivesUp, kFails},
    {{.cut = {{"chief-0", "worker-1"}}}, "", kTrains},
    {{.cut = {{"worker-1", "chief-0"}}}, "", kTrains},
    {{.cut = {{"chief-0", "evaluator-0"}}}, "", kEnds},
    {{.cut = {{"evaluator-0", "chief-0"}}}, "", kEnds},
    {{.cut = {{"worker-1", "ps-1"}}}, "", kTrains},
    {{.cut = {{"ps-1", "worker-1"}}}, "", kTrains},
    {{.cut = {{"ps-0", "ps-1"}}, .stopped = "ps-1"}, "", kTrains},
    {{.cut = {{"ps-1", "ps-0"}}, .stopped = "ps-1"}, "", kTrains},
    {kNobodyReachesPs1, kStalled, kFails},
    // A worker hangs, and the move of a shard fails: of a ps that is told to stop, and back to its
    // next attempt.
    {{.cut = {{"worker-1", "ps-0"}, {"ps-0", "ps-1"}}, .stopped = "ps-1"}, "", kTrains},
    {{.cut = {{"ps-0", "worker-1"}, {"ps-1", "ps-0"}}, .stopped = "ps-1"}, "", kTrains},
    {{.cut = {{"worker-1", "ps-1"}, {"chief-0", "ps-1"}}, .stopped = "ps-1"}, "", kTrains},
    {{.cut = {{"worker-0", "ps-0"}, {"worker-1", "ps-0"}, {"ps-0", "ps-1"}}, .stopped = "ps-1"},
     "no batch was committed for 60 s: worker 0 -> ps 0 (",
     kFails},
    {{.cut = {{"worker-1", "ps-0"}, {"ps-1", "chief-0"}}, .stopped = "ps-1"},
     "(ps 1 -> chief: nothing heard for ",
     kFails},
    {{.cut = {{"worker-1", "ps-0"}, {"chief-0", "ps-0"}}, .stopped = "ps-1"},
     "(ps 0 -> chief: nothing heard for ",
     kFails},
};

class ShellCutsTest : public testing::TestWithParam<CutCase> {};

TEST_P(ShellCutsTest, ForEver_TheJobSurvivesOrNamesThePairInTime) {
  const CutCase& one = GetParam();
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const ShellResult result = RunSeed(seed, {}, one.fault);
    const std::string error = result.error;
    EXPECT_EQ(result.faults, 1u) << "seed " << seed << ": the job does not train then: " << error;
    EXPECT_LT(result.seconds_after_last_fault, one.within_seconds) << "seed " << seed << error;
    if (one.names.empty()) {
      EXPECT_EQ(error, "") << "seed " << seed;
    } else {
      EXPECT_NE(error.find(one.names), std::string::npos) << "seed " << seed << ": " << error;
    }
  }
}

// As behind a firewall that lets the ps' connections out and none in. The ps is heard, and nothing
// that the chief says arrives.
const PlannedFault kCallsCut{.cut = {{"chief-0", "ps-1"}}, .calls_only = true};
constexpr const char* kLinkNamed = "chief -> ps 1: no call has reached it for ";

TEST(ShellCallsCut, ForEver_TheJobFailsInTimeAndNamesTheLink) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kCallsCut);
    const std::string error = result.error;
    EXPECT_EQ(result.faults, 1u) << "seed " << seed << ": the job does not train then: " << error;
    EXPECT_LT(result.seconds_after_last_fault, kFails) << "seed " << seed << ": " << error;
    EXPECT_NE(error.find(kLinkNamed), std::string::npos) << "seed " << seed << ": " << error;
  }
}

TEST(ShellMutation, WhenALinkThatIsDownLooksWell_IsCaught) {
  const ShellResult result = RunSeed(1, {.dead_links_look_well = true}, kCallsCut);
  const std::string error = result.error;
  EXPECT_TRUE(error.find(kLinkNamed) == std::string::npos ||
              result.seconds_after_last_fault > kFails)
      << error;
}

INSTANTIATE_TEST_SUITE_P(EachPair, ShellCutsTest, testing::ValuesIn(kCases),
                         [](const auto& one) { return NameOf(one.param); });

// The cases above would see it, within two seeds.
bool Caught(const Mutations& mutations, const PlannedFault& fault, const std::string& names = {}) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const std::string error = RunSeed(seed, mutations, fault).error;
    if (names.empty() ? !error.empty() : error.find(names) == std::string::npos) return true;
  }
  return false;
}

TEST(ShellCutMutation, WhenWhatAHangingWorkerHasIsNotShared_IsCaught) {
  EXPECT_TRUE(Caught({.chief_waits_for_ever = true}, {.cut = {{"worker-1", "ps-1"}}}));
}

TEST(ShellCutMutation, WhenAJobInWhichNobodyGetsOnDoesNotFail_IsCaught) {
  EXPECT_TRUE(Caught({.chief_waits_for_ever = true}, kNobodyReachesPs1, kStalled));
}

// A ps is told to stop, and its shards move back to its next attempt: their source does not answer
// that any more, so that each try of the move fails.
const PlannedFault kMoveBack{.cut = {{"ps-0", "ps-1"}}, .cut_at_return = true, .stopped = "ps-1"};

TEST(ShellMoveBack, WhenItsTargetDoesNotAnswer_TheJobTrainsOnBetweenTheTries) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const ShellResult result = RunSeed(seed, {}, kMoveBack);
    EXPECT_EQ(result.faults, 1u) << "seed " << seed << ": the job does not train then";
    EXPECT_STREQ(result.error, "") << "seed " << seed;
  }
}

TEST(ShellCutMutation, WhenTheEndWaitsForEverForItsEvaluation_IsCaught) {
  EXPECT_TRUE(Caught({.evaluation_has_no_deadline = true}, {.cut = {{"chief-0", "evaluator-0"}}}));
}

}  // namespace
}  // namespace pstrain::simulation
