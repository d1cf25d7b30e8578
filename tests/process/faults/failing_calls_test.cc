// Calls on files of the run directory that fail with a disk's or a network file system's errors,
// by a library that is loaded before libc: the job goes on, no checkpoint is given up, and every
// example counts once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ostream>
#include <string>

#include "proto/contract/exit_codes.h"
#include "tests/process/replicas_fixture.h"
#include "tests/runtime/input/gzip_file.h"

namespace pstrain {
namespace {

using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

struct Failing {
  const char* name;
  /// Joined by commas, of failing_calls.cc.
  const char* calls;
  int error;
  int percent = 100;
};

void PrintTo(const Failing& failing, std::ostream* out) { *out << failing.name; }

std::string NameOf(const testing::TestParamInfo<Failing>& info) { return info.param.name; }

class FailingCallsTest : public ReplicasTest, public testing::WithParamInterface<Failing> {
 protected:
  void SetUp() override {
    ReplicasTest::SetUp();
    environment_ = {"LD_PRELOAD=" PSTRAIN_FAILING_CALLS, "PSTRAIN_FAILING_CALLS=" + OrderFile()};
    BarrierAt(10);
    BarrierAt(60);
  }

  std::string OrderFile() const { return dir_.File("failing-calls"); }
  /// Calls on what has that part in its path, or is in the run directory, fail until Heal.
  void Fail(const Failing& failing, const std::string& part = "checkpoints/") const {
    const std::string order = std::string(failing.calls) + ' ' + std::to_string(failing.error) +
                              ' ' + std::to_string(failing.percent) + ' ' + part;
    ASSERT_TRUE(WriteFileAtomically(OrderFile(), order).ok());
  }
  void Heal() const { ASSERT_TRUE(RemoveFile(OrderFile()).ok()); }

  bool ChiefSays(const std::string& text) const {
    return chief_->Stderr().find(text) != std::string::npos;
  }
};

class FailingWritesTest : public FailingCallsTest {};

TEST_P(FailingWritesTest, Job_WhenCheckpointsCannotBeWrittenForAWhile_TrainsOnAndEndsExactly) {
  const Failing& failing = GetParam();
  StartAll();
  const std::int64_t saved = Saved();
  Fail(failing);
  Continue(10);
  ASSERT_TRUE(Eventually([&] { return ChiefSays("a checkpoint was abandoned"); }, kLimit))
      << Logs();
  EXPECT_THAT(chief_->Stderr(), HasSubstr("no_checkpoint_for_seconds="));
  EXPECT_THAT(Logs(), HasSubstr(std::strerror(failing.error)));
  Heal();
  // Up to where it is held, though nobody could save it.
  ASSERT_TRUE(Eventually([&] { return Saved() > examples() * 6 / 10; }, kLimit)) << Logs();
  EXPECT_GT(Saved(), saved);
  // The chief says so only after the checkpoint that Saved reads is in place.
  EXPECT_TRUE(Eventually([&] { return ChiefSays("checkpoints can be written again"); }, kLimit))
      << Logs();
  Continue(60);
  ExpectExact();
}

INSTANTIATE_TEST_SUITE_P(
    With, FailingWritesTest,
    testing::Values(Failing{"EioOfFsync", "fsync", EIO}, Failing{"EnospcOfWrite", "write", ENOSPC},
                    Failing{"EstaleOfOpen", "open", ESTALE},
                    Failing{"EaccesOfOpen", "open", EACCES}, Failing{"EioOfRename", "rename", EIO},
                    Failing{"EioOfAThirdOfAll", "open,read,write,fsync,rename,mkdir,readdir", EIO,
                            33}),
    NameOf);

class FailingReadsTest : public FailingCallsTest {};

TEST_P(FailingReadsTest, Restore_WhenTheCheckpointCannotBeReadForAWhile_TriesItAgain) {
  StartAll();
  Fail(GetParam());
  ps_[1]->Signal(SIGKILL);
  ASSERT_EQ(ps_[1]->Wait(kLimit), 128 + SIGKILL);
  environment_.emplace_back("PSTRAIN_ATTEMPT=1");
  ps_[1] = Start("ps", 1, 2);
  ASSERT_TRUE(Eventually([&] { return ChiefSays("an assignment failed"); }, kLimit)) << Logs();
  EXPECT_THAT(chief_->Stderr(), HasSubstr(std::strerror(GetParam().error)));
  Heal();
  Continue(10);
  Continue(60);
  ExpectExact();
  EXPECT_THAT(chief_->Stderr(), Not(HasSubstr("is passed over")));
}

INSTANTIATE_TEST_SUITE_P(With, FailingReadsTest,
                         testing::Values(Failing{"EioOfRead", "read", EIO},
                                         Failing{"EstaleOfOpen", "open", ESTALE},
                                         Failing{"EaccesOfOpen", "open", EACCES}),
                         NameOf);

// Until the index of the run can be read again.
TEST_P(FailingReadsTest, Worker_WhenItStartsWhileFilesCannotBeRead_TriesAgain) {
  StartAll();
  workers_[1]->Signal(SIGKILL);
  ASSERT_EQ(workers_[1]->Wait(kLimit), 128 + SIGKILL);
  Fail(GetParam());
  environment_.emplace_back("PSTRAIN_ATTEMPT=1");
  workers_[1] = Start("worker", 1, 2);
  ASSERT_TRUE(Eventually(
      [this] {
        return workers_[1]->Stderr().find("the input index cannot be read now; trying again") !=
               std::string::npos;
      },
      kLimit))
      << Logs();
  Heal();
  Continue(10);
  Continue(60);
  ExpectExact();
}

class PackedInputTest : public FailingCallsTest {
 protected:
  void SetUp() override {
    FailingCallsTest::SetUp();
    WriteGzipFile(dir_.File("data.csv.gz"), *ReadFile(dir_.File("data.csv")));
    std::string job = *ReadFile(dir_.File("job.yaml"));
    const std::string plain = "[data.csv]";
    job.replace(job.find(plain), plain.size(), "[data.csv.gz]");
    ASSERT_TRUE(WriteFileAtomically(dir_.File("job.yaml"), job).ok());
  }
};

// Nobody has unpacked it in the new worker's scratch folder yet. The other worker is gone too: it
// could have trained all that may be granted before this one asks, and then there is nothing to
// read.
TEST_P(PackedInputTest, Worker_WhenThePackedFileCannotBeReadForAWhile_TriesAgain) {
  StartAll();
  for (const auto& worker : workers_) {
    worker->Signal(SIGKILL);
    ASSERT_EQ(worker->Wait(kLimit), 128 + SIGKILL);
  }
  Fail(GetParam(), "data.csv.gz");
  environment_.emplace_back("PSTRAIN_ATTEMPT=1");
  environment_.emplace_back("PSTRAIN_SCRATCH_DIR=" + dir_.File("scratch-of-the-second"));
  workers_[1] = Start("worker", 1, 2);
  Continue(10);
  ASSERT_TRUE(Eventually(
      [this] {
        return workers_[1]->Stderr().find("the input cannot be read now; trying again") !=
               std::string::npos;
      },
      kLimit))
      << Logs();
  EXPECT_THAT(workers_[1]->Stderr(), HasSubstr(std::strerror(GetParam().error)));
  Heal();
  workers_[0] = Start("worker", 0, 2);
  Continue(60);
  ExpectExact();
}

INSTANTIATE_TEST_SUITE_P(With, PackedInputTest, testing::Values(Failing{"EioOfRead", "read", EIO}),
                         NameOf);

class ReplacedChiefTest : public FailingCallsTest {};

// A chief that is started while nobody can write is not to use up the job's attempts.
TEST_P(ReplacedChiefTest, Chief_WhenItsDirectoryRefusesForAWhile_WaitsForItAndGoesOn) {
  StartAll();
  Fail(GetParam());
  chief_->Signal(SIGKILL);
  ASSERT_EQ(chief_->Wait(kLimit), 128 + SIGKILL);
  environment_.emplace_back("PSTRAIN_ATTEMPT=1");
  chief_ = Start("chief", 0, 2);
  ASSERT_TRUE(Eventually(
      [&] { return ChiefSays("the run's directory cannot be used now; trying again"); }, kLimit))
      << Logs();
  EXPECT_THAT(chief_->Stderr(), HasSubstr(std::strerror(GetParam().error)));
  Heal();
  Continue(10);
  Continue(60);
  ExpectExact();
}

INSTANTIATE_TEST_SUITE_P(With, ReplacedChiefTest,
                         testing::Values(Failing{"EnospcOfWrite", "write", ENOSPC},
                                         Failing{"EdquotOfWrite", "write", EDQUOT},
                                         Failing{"EaccesOfOpen", "open", EACCES},
                                         // Nor can it see then that the run was started.
                                         Failing{"EaccesOfStatAndOpen", "stat,open", EACCES},
                                         Failing{"ErofsOfOpen", "open", EROFS}),
                         NameOf);

/// A call of a replica that never returns, and what the replica says of it at its end.
struct Hanging {
  const char* role;
  const char* call;
  const char* part;
  const char* work;
};

void PrintTo(const Hanging& hanging, std::ostream* out) { *out << hanging.role; }

class HangingCallsTest : public ReplicasTest, public testing::WithParamInterface<Hanging> {
 protected:
  std::string OrderFile() const { return dir_.File("failing-calls"); }
  bool Hangs(const Program& program) const {
    return FileExists(OrderFile() + ".hangs." + std::to_string(program.pid()));
  }
};

// The thread of such a call can be neither stopped nor joined.
TEST_P(HangingCallsTest, Replica_WhenToldToStop_EndsWithItsCodeAndNamesTheWork) {
  const Hanging& hanging = GetParam();
  environment_ = {"LD_PRELOAD=" PSTRAIN_FAILING_CALLS, "PSTRAIN_FAILING_CALLS=" + OrderFile(),
                  "PSTRAIN_GRACE_SECONDS=8"};
  BarrierAt(10);
  StartAll();
  ASSERT_TRUE(
      WriteFileAtomically(OrderFile(), std::string(hanging.call) + " 0 100 " + hanging.part).ok());
  Continue(10);
  Program& replica = Replica(hanging.role, 0);
  ASSERT_TRUE(Eventually([&] { return Hangs(replica); }, kLimit)) << Logs();
  replica.Signal(SIGTERM);
  EXPECT_EQ(replica.Wait(kLimit), kExitDrained) << Logs();
  EXPECT_THAT(replica.Stderr(),
              ContainsRegex(std::string("work does not return.*") + hanging.work));
}

INSTANTIATE_TEST_SUITE_P(Of, HangingCallsTest,
                         // Files that one kind of work alone writes or reads.
                         testing::Values(Hanging{"chief", "write", "/manifest", "write a manifest"},
                                         Hanging{"ps", "write", "/shard-", "write checkpoint"},
                                         Hanging{"worker", "read", "data.csv", "read epoch"}),
                         [](const auto& one) { return std::string(one.param.role); });

}  // namespace
}  // namespace pstrain
