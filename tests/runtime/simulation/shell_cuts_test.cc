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
  CutForEver cut;
  /// Empty: the job survives. Else it fails, and the message has this.
  std::string names = {};
  /// Simulated, from the cut on.
  double within_seconds = 0;
};

std::string NameOf(const CutCase& one) {
  std::string name = one.cut.from + "To" + one.cut.to;
  for (const auto& [from, to] : one.cut.more) name += "And" + from + "To" + to;
  std::erase(name, '-');
  return name;
}
void PrintTo(const CutCase& one, std::ostream* out) { *out << NameOf(one); }

// A ps whose calls the chief does not get, or whose answers do not come, gives the chief up after
// peerTimeoutSeconds. The chief has given the ps up after 20 s at the most, and would fail the job
// as long after that.
constexpr double kPatience = kLinkPatience.count();
constexpr double kFails = kPatience + 40;
// What a worker that is cut off has goes to the other one after 15 s, and the job trains on.
constexpr double kTrains = 120;
// The end waits for the final evaluation for 30 s.
constexpr double kEnds = kTrains + 40;

constexpr const char* kPsGivesUp = "ps-1 failed: DEADLINE_EXCEEDED: the chief at chief:2000";

constexpr const char* kStalled = "no batch was committed for 60 s: worker 0 -> ps 1 (";
const CutForEver kNobodyReachesPs1{
    .from = "worker-0", .to = "ps-1", .more = {{"worker-1", "ps-1"}}};

const CutCase kCases[] = {
    {{"chief-0", "ps-1"}, kPsGivesUp, kFails}, {{"ps-1", "chief-0"}, kPsGivesUp, kFails},
    {{"chief-0", "worker-1"}, "", kTrains},    {{"worker-1", "chief-0"}, "", kTrains},
    {{"chief-0", "evaluator-0"}, "", kEnds},   {{"evaluator-0", "chief-0"}, "", kEnds},
    {{"worker-1", "ps-1"}, "", kTrains},       {{"ps-1", "worker-1"}, "", kTrains},
    {{"ps-0", "ps-1", "ps-1"}, "", kTrains},   {{"ps-1", "ps-0", "ps-1"}, "", kTrains},
    {kNobodyReachesPs1, kStalled, kFails},
};

class ShellCutsTest : public testing::TestWithParam<CutCase> {};

TEST_P(ShellCutsTest, ForEver_TheJobSurvivesOrNamesThePairInTime) {
  const CutCase& one = GetParam();
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const ShellResult result = RunSeed(seed, {}, one.cut);
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
const CutForEver kCallsCut{.from = "chief-0", .to = "ps-1", .calls_only = true};
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
bool Caught(const Mutations& mutations, const CutForEver& cut, const std::string& names = {}) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const std::string error = RunSeed(seed, mutations, cut).error;
    if (names.empty() ? !error.empty() : error.find(names) == std::string::npos) return true;
  }
  return false;
}

TEST(ShellCutMutation, WhenWhatAHangingWorkerHasIsNotShared_IsCaught) {
  EXPECT_TRUE(Caught({.chief_waits_for_ever = true}, {"worker-1", "ps-1"}));
}

TEST(ShellCutMutation, WhenAJobInWhichNobodyGetsOnDoesNotFail_IsCaught) {
  EXPECT_TRUE(Caught({.chief_waits_for_ever = true}, kNobodyReachesPs1, kStalled));
}

TEST(ShellCutMutation, WhenTheEndWaitsForEverForItsEvaluation_IsCaught) {
  EXPECT_TRUE(Caught({.evaluation_has_no_deadline = true}, {"chief-0", "evaluator-0"}));
}

}  // namespace
}  // namespace pstrain::simulation
