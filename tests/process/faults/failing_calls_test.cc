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

#include "tests/process/replicas_fixture.h"

namespace pstrain {
namespace {

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
    HoldAt(10);
    HoldAt(60);
  }

  std::string OrderFile() const { return dir_.File("failing-calls"); }
  /// Calls on what is in the run directory fail until Heal.
  void Fail(const Failing& failing) const {
    const std::string order = std::string(failing.calls) + ' ' + std::to_string(failing.error) +
                              ' ' + std::to_string(failing.percent) + " checkpoints/";
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
  EXPECT_TRUE(ChiefSays("checkpoints can be written again")) << Logs();
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

}  // namespace
}  // namespace pstrain
