// Replicas of a program (histories_program.cc) that are stopped, and go on when a history has begun
// that has nothing to do with what they have: nothing of that is ever seen again. The chiefs have a
// name with two addresses, as where a pod of the chief is still there while the next one starts.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <csignal>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "proto/contract/exit_codes.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/checkpoint/program_mark.h"
#include "tests/process/histories_fixture.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

const ProgramReplicas::Task kChief{"chief", 0};
const ProgramReplicas::Task kPs{"ps", 1};

/// The process does not run until somebody lets it.
bool IsStopped(const Program& program) {
  std::ifstream file("/proc/" + std::to_string(program.pid()) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(')');
  return end != std::string::npos && end + 2 < text.size() && text[end + 2] == 'T';
}

class LateReplicasTest : public HistoriesTest {
 protected:
  void SetUp() override {
    if (unshare(CLONE_NEWNS) != 0) GTEST_SKIP() << "only root makes a mount namespace";
    ASSERT_EQ(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    ASSERT_TRUE(WriteFileAtomically(dir_.File("hosts"),
                                    "127.0.0.1 localhost\n"
                                    "127.0.0.1 chief.test\n"
                                    "127.0.0.2 chief.test\n")
                    .ok());
    ASSERT_EQ(mount(dir_.File("hosts").c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr), 0);
    mounted_ = true;
    PrepareHistories();
  }
  void TearDown() override {
    if (HasFailure()) std::cout << Logs();
    if (mounted_) umount2("/etc/hosts", MNT_DETACH);
  }

  std::string AddressOf(const Task& task) const override {
    if (task == kChief) return chief_ + ":" + std::to_string(Port(task));
    if (task == kPs && ps_elsewhere_) return "127.0.0.1:" + std::to_string(SparePort());
    return ProgramReplicas::AddressOf(task);
  }
  std::string ChiefName() const override { return "chief.test:" + std::to_string(Port(kChief)); }

  /// The former one stays where it is.
  void StartAnotherChief() {
    chief_ = "127.0.0.2";
    Start(kChief);
  }
  static void Stop(const Program& program) {
    program.Signal(SIGSTOP);
    ASSERT_TRUE(Eventually([&] { return IsStopped(program); }, kLimit));
  }
  /// It ends as one whose place another has.
  static void ExpectSuperseded(Program& program) {
    EXPECT_EQ(program.Wait(kLimit), kExitDisrupted) << program.Stderr();
  }
  /// `main` and a worker are at that moment.
  void RunTo(const Gate& gate) {
    ASSERT_TRUE(
        RunUntil([&] { return !gate.Arrived("main").empty() && !gate.Arrived("call").empty(); }));
  }
  /// The run ends, in a history that has begun at mark 1 as the one of that number.
  void ExpectTheEnd(std::size_t history) {
    ASSERT_TRUE(RunToTheEnd());
    EXPECT_EQ(Histories(), history + 1);
    EXPECT_EQ(BeginningOf(history), 1);
    ExpectSurvivingHistory();
  }

  std::string chief_ = "127.0.0.1";
  bool ps_elsewhere_ = false;

 private:
  bool mounted_ = false;
};

// It has scheduled and fetched behind mark 1, and would go on.
TEST_F(LateReplicasTest, AChief_WhenItWakesWhileTheNextOneRuns_HasNoSayAnyMore) {
  Gate first_gate(dir_.path(), "call 60");
  StartAll();
  RunTo(first_gate);
  Program& first = Replica(kChief);
  Stop(first);
  first_gate.Open();
  Gate gate(dir_.path(), "call 100");
  StartAnotherChief();
  RunTo(gate);
  first.Signal(SIGCONT);
  ExpectSuperseded(first);
  EXPECT_FALSE(HasSaid(0, "saved", 2));
  gate.Open();
  ExpectTheEnd(1);
}

// Both look for their peers, and for marks, at the same time.
TEST_F(LateReplicasTest, AChief_WhenItWakesWhileTheNextOneBegins_HasNoSayAnyMore) {
  Gate gate(dir_.path(), "call 60");
  StartAll();
  RunTo(gate);
  Program& first = Replica(kChief);
  Stop(first);
  gate.Open();
  StartAnotherChief();
  ASSERT_TRUE(
      RunUntil([&] { return Replica(kChief).Stderr().find("run opened") != std::string::npos; }));
  first.Signal(SIGCONT);
  ASSERT_TRUE(RunUntil([&] { return first.Wait(std::chrono::seconds(0)) != -1; }));
  ExpectSuperseded(first);
  ExpectTheEnd(1);
}

// Nobody stops the first one: both have calls in flight when the second one begins.
TEST_F(LateReplicasTest, AChief_WhenTheNextOneIsStartedBesideIt_GivesWay) {
  Gate gate(dir_.path(), "call 60");
  StartAll();
  RunTo(gate);
  Program& first = Replica(kChief);
  StartAnotherChief();
  gate.Open();
  ASSERT_TRUE(RunUntil([&] { return first.Wait(std::chrono::seconds(0)) != -1; }));
  ExpectSuperseded(first);
  ASSERT_TRUE(RunToTheEnd());
  EXPECT_EQ(Histories(), 2U);
  ExpectSurvivingHistory();
}

// Whoever has the lower term ends, and is started again where it is the one that the test knows.
TEST_F(LateReplicasTest, TwoChiefs_WhenStartedTogether_OneHistoryIsLeft) {
  Start(kChief);
  Program& first = Replica(kChief);
  StartAnotherChief();
  for (int i = 0; i < 2; ++i) Start({"ps", i});
  for (int i = 0; i < 2; ++i) Start({"worker", i});
  ASSERT_TRUE(RunToTheEnd());
  ExpectSuperseded(first);
  EXPECT_GE(Histories(), 1U);
  ExpectSurvivingHistory();
}

TEST_F(LateReplicasTest, APs_WhenItWakesWithValuesBehindTheMark_IsNotListenedTo) {
  Gate gate(dir_.path(), "call 60");
  StartAll();
  RunTo(gate);
  Program& ps = Replica(kPs);
  Stop(ps);
  Kill(kChief);
  gate.Open();
  // The next chief has begun; shards of this ps have nobody else.
  ASSERT_TRUE(
      RunUntil([&] { return Replica(kChief).Stderr().find("run opened") != std::string::npos; }));
  ps.Signal(SIGCONT);
  ASSERT_TRUE(RunUntil([&] { return ps.Wait(std::chrono::seconds(0)) != -1; }));
  ExpectSuperseded(ps);
  ExpectTheEnd(1);
}

TEST_F(LateReplicasTest, APs_WhenItWakesAndAnotherHasItsPlace_IsNotListenedTo) {
  Gate first_gate(dir_.path(), "call 60");
  StartAll();
  RunTo(first_gate);
  Program& ps = Replica(kPs);
  Stop(ps);
  Kill(kChief);
  ps_elsewhere_ = true;
  Start(kPs);
  first_gate.Open();
  Gate gate(dir_.path(), "call 100");
  RunTo(gate);
  ps.Signal(SIGCONT);
  ExpectSuperseded(ps);
  gate.Open();
  ExpectTheEnd(1);
}

/// In the call, before it has read anything, and when it has said all that it changes.
class LateWorkerTest : public LateReplicasTest, public testing::WithParamInterface<const char*> {};

TEST_P(LateWorkerTest, WhenItWakesWithAnOldCall_NothingOfThatIsTaken) {
  Gate first_gate(dir_.path(), std::string(GetParam()) + " 60");
  StartAll();
  ASSERT_TRUE(RunUntil([&] { return !first_gate.Arrived("call").empty(); }));
  const Task task{"worker", std::stoi(first_gate.Arrived("call"))};
  Program& worker = Replica(task);
  Stop(worker);
  Kill(kChief);
  first_gate.Open();
  // The same call of the next history is somebody else's, and done.
  Gate gate(dir_.path(), "call 100");
  RunTo(gate);
  worker.Signal(SIGCONT);
  ExpectSuperseded(worker);
  gate.Open();
  ExpectTheEnd(1);
}

INSTANTIATE_TEST_SUITE_P(At, LateWorkerTest, testing::Values("call", "called"),
                         [](const auto& one) { return std::string(one.param); });

/// The chief is stopped where the manifest of mark 2 is about to be renamed into place; the next
/// one begins at mark 1, and then the rename comes.
class LateSaveTest : public LateReplicasTest {
 protected:
  std::string Order() const { return dir_.File("stopping-calls"); }
  /// Marks 2 that are there.
  std::size_t MarksTwo() const {
    const auto checkpoints = ListCheckpoints(RunDirectory());
    EXPECT_TRUE(checkpoints.ok()) << checkpoints.status().ToString();
    std::size_t found = 0;
    for (const CheckpointId& id : *checkpoints) {
      const Result<std::string> bytes =
          ReadFile(JoinPath(CheckpointDirectory(RunDirectory(), id), "mark"));
      if (!bytes.ok()) continue;
      const Result<ProgramMark> mark = ParseMark(*bytes);
      if (mark.ok() && mark->mark() == 2) ++found;
    }
    return found;
  }
  void StopInTheRename() {
    environment_of_next_ = {"PSTRAIN_FAILING_CALLS=" + Order()};
    Gate gate(dir_.path(), "saving 2");
    StartAll();
    ASSERT_TRUE(RunUntil([&] { return !gate.Arrived("main").empty(); }));
    ASSERT_TRUE(WriteFileAtomically(Order(), "rename -1 100 /manifest").ok());
    gate.Open();
    ASSERT_TRUE(Eventually([&] { return IsStopped(Replica(kChief)); }, kLimit));
    EXPECT_EQ(MarksTwo(), 0U);
  }
  /// From before the rename to behind it.
  void LetTheRenameCome(const Program& first) {
    first.Signal(SIGCONT);
    ASSERT_TRUE(Eventually([&] { return MarksTwo() == 1 && IsStopped(first); }, kLimit));
  }
};

TEST_F(LateSaveTest, WhenItsChiefDiesThen_NobodyBeginsAtThatMark) {
  StopInTheRename();
  Program& first = Replica(kChief);
  Gate gate(dir_.path(), "call 60");
  StartAnotherChief();
  RunTo(gate);
  LetTheRenameCome(first);
  first.Signal(SIGKILL);
  EXPECT_EQ(first.Wait(kLimit), 128 + SIGKILL);
  EXPECT_EQ(MarksTwo(), 1U) << "what nobody may begin at is there";
  Kill(kChief);
  gate.Open();
  ExpectTheEnd(2);
}

TEST_F(LateSaveTest, WhenItsChiefGoesOn_SaveFailsAndNobodyBeginsAtThatMark) {
  StopInTheRename();
  Program& first = Replica(kChief);
  Gate gate(dir_.path(), "call 60");
  StartAnotherChief();
  RunTo(gate);
  LetTheRenameCome(first);
  first.Signal(SIGCONT);
  ExpectSuperseded(first);
  EXPECT_FALSE(HasSaid(0, "saved", 2)) << "main is not to be told that there is such a mark";
  Kill(kChief);
  gate.Open();
  ExpectTheEnd(2);
}

#ifdef PSTRAIN_ALL_PAUSES
/// Chiefs, a ps and workers are stopped wherever they happen to be, others take their places, and
/// all go on at the same time.
class LateAnywhereTest : public LateReplicasTest,
                         public testing::WithParamInterface<std::uint64_t> {
 protected:
  std::size_t LinesNow() const {
    const std::size_t histories = Histories();
    return histories == 0 ? 0 : LinesOf(histories - 1).size();
  }
  /// The newest `main` has written so many lines more, or the run has ended.
  void RunOn(std::uint64_t lines) {
    const std::size_t histories = Histories();
    const std::size_t from = LinesNow();
    ASSERT_TRUE(RunUntil([&] {
      const bool another = Histories() > histories;
      return HasEnded(kChief) || LinesNow() >= (another ? lines : from + lines);
    }));
  }
  void StartElsewhere(const Task& task) {
    if (task == kPs) {
      ps_elsewhere_ = !ps_elsewhere_;
    } else {
      chief_ = chief_ == "127.0.0.1" ? "127.0.0.2" : "127.0.0.1";
    }
    Start(task);
  }
};

TEST_P(LateAnywhereTest, NothingOfAnOldHistoryIsSeen) {
  constexpr int kTimes = 3;
  constexpr std::uint64_t kMostLines = 250;
  Rng rng(GetParam());
  // It may be what a worker was stopped in.
  environment_.emplace_back("PSTRAIN_TEST_FAIL=always");
  // A chief that is stopped while its disk is full would leave it so to the next one.
  WithoutFullDisks();
  StartAll();
  for (int i = 0; i < kTimes && !HasEnded(kChief); ++i) {
    RunOn(rng.Uniform(kMostLines));
    if (HasEnded(kChief)) break;
    std::vector<Task> stopped = {kChief};
    if (rng.Uniform(2) == 0) stopped.push_back(kPs);
    // The other one goes on.
    if (rng.Uniform(2) == 0) stopped.emplace_back("worker", static_cast<int>(rng.Uniform(2)));
    std::vector<Program*> late;
    for (const Task& task : stopped) {
      late.push_back(&Replica(task));
      late.back()->Signal(SIGSTOP);
    }
    // A worker that is stopped holds its address, and nobody else is started in its place.
    for (const Task& task : stopped) {
      if (task.first != "worker") StartElsewhere(task);
    }
    RunOn(rng.Uniform(kMostLines));
    for (const Program* program : late) program->Signal(SIGCONT);
    for (Program* program : late) {
      // Nobody is left that could tell it when the run has ended.
      ASSERT_TRUE(RunUntil(
          [&] { return HasEnded(kChief) || program->Wait(std::chrono::seconds(0)) != -1; }));
    }
  }
  ASSERT_TRUE(RunToTheEnd());
  ExpectSurvivingHistory();
}

INSTANTIATE_TEST_SUITE_P(Seeds, LateAnywhereTest, testing::Range<std::uint64_t>(1, 13));
#endif

}  // namespace
}  // namespace pstrain
