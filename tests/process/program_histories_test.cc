// A program of 200 calls of all kinds (histories_program.cc). Replicas are killed where it is at a
// certain call: `main` has scheduled it, a worker is in it. Every kill once, with --all.
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/process/histories_fixture.h"

namespace pstrain {
namespace {

/// Roles whose replicas are killed at the same time.
struct Killed {
  const char* name;
  bool worker = false;
  bool ps = false;
  bool chief = false;
};

constexpr std::array kAllKinds = {Killed{.name = "Worker", .worker = true},
                                  Killed{.name = "Ps", .ps = true},
                                  Killed{.name = "Chief", .chief = true},
                                  Killed{.name = "WorkerAndPs", .worker = true, .ps = true},
                                  Killed{.name = "WorkerAndChief", .worker = true, .chief = true},
                                  Killed{.name = "PsAndChief", .ps = true, .chief = true}};

class ProgramHistoriesTest : public HistoriesTest {
 protected:
  /// With automatic checkpoints at each second call.
  void KillAt(const Killed& killed, int call) {
    PrepareHistories(call / 20 % 2);
    Gate gate(dir_.path(), "call " + std::to_string(call));
    StartAll();
    ASSERT_TRUE(
        RunUntil([&] { return !gate.Arrived("main").empty() && !gate.Arrived("call").empty(); }));
    if (killed.worker) Kill({"worker", std::stoi(gate.Arrived("call"))});
    if (killed.ps) Kill({"ps", call / 20 % 2});
    if (killed.chief) Kill({"chief", 0});
    gate.Open();
    ASSERT_TRUE(RunToTheEnd());
    ASSERT_EQ(Histories(), killed.chief ? 2U : 1U);
    // Mark m is behind call 40 m - 10.
    EXPECT_EQ(BeginningOf(Histories() - 1), killed.chief ? (call + 10) / 40 : 0);
    ExpectSurvivingHistory();
    if (HasFailure()) ADD_FAILURE() << Logs();
  }
};

TEST_F(ProgramHistoriesTest, WhenUndisturbed_IsRight) {
  PrepareHistories();
  StartAll();
  ASSERT_TRUE(RunToTheEnd());
  EXPECT_EQ(Histories(), 1U);
  ExpectSurvivingHistory();
}

// A ps has what a call changes, the other one has not, and nobody is there who knows it.
TEST_F(ProgramHistoriesTest, WhenWorkersDieBetweenTwoPs_IsRight) {
  const std::string points[] = {"worker-between-ps:0:0:7", "worker-between-ps:1:0:12"};
  PrepareHistories();
  environment_.push_back("PSTRAIN_FAIL_POINTS=" + points[0] + "," + points[1]);
  // It may be what a worker that dies has run.
  environment_.emplace_back("PSTRAIN_TEST_FAIL=always");
  StartAll();
  ASSERT_TRUE(RunToTheEnd());
  for (const std::string& point : points) {
    EXPECT_TRUE(FileExists(JoinPath(RunDirectory(), "fired-" + point))) << point;
  }
  ExpectSurvivingHistory();
}

struct Cell {
  Killed killed;
  int call;
};
void PrintTo(const Cell& cell, std::ostream* out) { *out << cell.killed.name << cell.call; }
std::string NameOf(const testing::TestParamInfo<Cell>& info) {
  return info.param.killed.name + std::string("At") + std::to_string(info.param.call);
}

class KilledAtACallTest : public ProgramHistoriesTest, public testing::WithParamInterface<Cell> {};

TEST_P(KilledAtACallTest, WhatSurvivesIsRight) { KillAt(GetParam().killed, GetParam().call); }

/// Any of them are killed wherever they happen to be, when `main` has written down so many lines
/// more: in a Save, while others start, when the run is about to end.
class KilledAnywhereTest : public ProgramHistoriesTest,
                           public testing::WithParamInterface<std::uint64_t> {
 protected:
  /// 0: there is no `main` now that has written any.
  std::size_t LinesNow() const {
    const std::size_t histories = Histories();
    return histories == 0 ? 0 : LinesOf(histories - 1).size();
  }
  void KillSome(Rng& rng) {
    const Task tasks[] = {{"chief", 0}, {"ps", 0}, {"ps", 1}, {"worker", 0}, {"worker", 1}};
    const std::uint64_t which = 1 + rng.Uniform((1U << std::size(tasks)) - 1);
    for (std::size_t i = 0; i < std::size(tasks); ++i) {
      if ((which >> i & 1) == 0) continue;
      Replica(tasks[i]).Signal(SIGKILL);
      if (tasks[i].first != "chief") continue;
      // Who is dead cannot make room any more.
      static_cast<void>(Replica(tasks[i]).Wait(kLimit));
      static_cast<void>(RemoveFile(dir_.File("failing-calls")));
    }
  }
};

TEST_P(KilledAnywhereTest, WhatSurvivesIsRight) {
  constexpr int kKills = 4;
  constexpr std::uint64_t kMostLines = 400;
  Rng rng(GetParam());
  PrepareHistories(static_cast<int>(GetParam() % 2));
  // It may be what a worker that dies has run.
  environment_.emplace_back("PSTRAIN_TEST_FAIL=always");
  StartAll();
  for (int i = 0; i < kKills; ++i) {
    const std::size_t lines = LinesNow() + rng.Uniform(kMostLines);
    const std::size_t histories = Histories();
    ASSERT_TRUE(RunUntil(
        [&] { return LinesNow() >= lines || Histories() > histories || HasEnded({"chief", 0}); }));
    if (HasEnded({"chief", 0})) break;
    KillSome(rng);
  }
  ASSERT_TRUE(RunToTheEnd());
  ExpectSurvivingHistory();
  if (HasFailure()) ADD_FAILURE() << Logs();
}

#ifdef PSTRAIN_ALL_KILLS
std::vector<Cell> AllCells() {
  std::vector<Cell> cells;
  for (const Killed& killed : kAllKinds) {
    for (int call = 20; call < 200; call += 20) cells.push_back({killed, call});
  }
  return cells;
}
INSTANTIATE_TEST_SUITE_P(All, KilledAtACallTest, testing::ValuesIn(AllCells()), NameOf);
INSTANTIATE_TEST_SUITE_P(Seeds, KilledAnywhereTest, testing::Range<std::uint64_t>(1, 31));
#else
// Each kind once, before the first mark and behind the last one.
INSTANTIATE_TEST_SUITE_P(Few, KilledAtACallTest,
                         testing::Values(Cell{kAllKinds[0], 40}, Cell{kAllKinds[1], 100},
                                         Cell{kAllKinds[2], 20}, Cell{kAllKinds[3], 140},
                                         Cell{kAllKinds[4], 120}, Cell{kAllKinds[5], 180}),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Seeds, KilledAnywhereTest, testing::Values(std::uint64_t{1}));
#endif

}  // namespace
}  // namespace pstrain
