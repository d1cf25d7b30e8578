// An input file that changes while a run trains on it: the replacement of a worker refuses it, and
// no other attempt can succeed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <functional>
#include <string>

#include "tests/process/exact_fixture.h"

namespace pstrain {
namespace {

using testing::HasSubstr;
using testing::Not;

class ChangedInputTest : public ExactRunTest {
 protected:
  /// Trains by one worker, which is killed; `change` alters data.csv before its replacement starts,
  /// while nobody reads.
  Ended RunWithChange(const std::function<void()>& change) {
    Program program(
        {PSTRAIN_BIN_DIR "/pstrain", "run", "job.yaml", "--allow-test-only", "--json", "--set",
         "spec.replicaSpecs.worker.replicas=1", "--set", "spec.training.epochs=10000"},
        dir_.path());
    pid_t worker = 0;
    const auto trains = [&] {
      const auto reading = ReadReplica("exact", "worker");
      if (!reading || reading->Value("steps") <= 0) return false;
      worker = static_cast<pid_t>(reading->child_pid);
      return worker > 0;
    };
    EXPECT_TRUE(Eventually(trains, std::chrono::seconds(120))) << program.Stderr();
    if (worker <= 0) return {};
    EXPECT_EQ(kill(worker, SIGSTOP), 0);
    change();
    EXPECT_EQ(kill(worker, SIGKILL), 0);
    return WaitFor(program);
  }

  static void ExpectEndsForGood(const Ended& ended, const std::string& how) {
    EXPECT_EQ(ended.code, 1) << ended.errors;
    const std::string error =
        "InvalidInput: worker-0: data.csv: the file has changed since the run began, " + how;
    EXPECT_THAT(ended.errors, HasSubstr("job failed: " + error));
    EXPECT_THAT(ended.errors, HasSubstr("put it back, or start a new run"));
    EXPECT_THAT(ended.errors, HasSubstr("attempt 1 starts"));
    EXPECT_THAT(ended.errors, Not(HasSubstr("attempt 2 starts"))) << "it ended by retries";
  }
};

TEST_F(ChangedInputTest, OfAnotherSize_EndsTheJobForGood) {
  const Ended ended = RunWithChange([this] { WriteData(kRecords + 1); });
  ExpectEndsForGood(ended, "its size is another");
}

TEST_F(ChangedInputTest, OfOtherContentAndTheSameSize_EndsTheJobForGood) {
  const Ended ended = RunWithChange([this] {
    std::string data = *ReadFile(dir_.File("data.csv"));
    // Every label: the records can be read as before.
    for (std::size_t line = 0; line < data.size(); line = data.find('\n', line) + 1) {
      data[line] = data[line] == '0' ? '1' : '0';
    }
    ASSERT_TRUE(WriteFileAtomically(dir_.File("data.csv"), data).ok());
  });
  ExpectEndsForGood(ended, "in bytes ");
}

}  // namespace
}  // namespace pstrain
