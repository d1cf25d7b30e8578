#include "runtime/cluster/process_end.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <stop_token>
#include <string>
#include <thread>

namespace pstrain {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Long enough for any machine, short of the test's own limit.
constexpr seconds kLimit{60};

/// A system call that does not return.
void Hang() { std::promise<void>().get_future().wait(); }

int CodeOf(const Result<int>& outcome) { return outcome.ok() ? *outcome : 1; }

TEST(ProcessEndDeathTest, WhenAThreadNeverReturns_EndsTheProcessAndNamesItsWork) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    ProcessEnd end({.patience = milliseconds(1)},
                   [](const Result<int>& outcome) { _exit(CodeOf(outcome)); });
    {
      const ProcessEnd::Work done(&end, "read the index");
    }
    const ProcessEnd::Work work(&end, "write a manifest");
    end.Decided(85);
    Hang();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(85), "does not return.*write a manifest");
}

/// The code that the process is ended with; -1: it is not ended.
class ProcessEndTest : public testing::Test {
 protected:
  ProcessEnd::EndNow EndNow() {
    return [this](const Result<int>& outcome) { ended_.set_value(CodeOf(outcome)); };
  }
  int Ended() {
    std::future<int> code = ended_.get_future();
    return code.wait_for(kLimit) == std::future_status::ready ? code.get() : -1;
  }

  std::promise<int> ended_;
};

TEST_F(ProcessEndTest, WhileAWorkTakesLong_TheLogNamesItAndSaysWhenItReturns) {
  testing::internal::CaptureStderr();
  {
    ProcessEnd end({.slow = milliseconds(1), .look = milliseconds(1)}, EndNow());
    const ProcessEnd::Work watched(&end, "list checkpoints", ProcessEnd::Named::kAtTheEnd);
    const ProcessEnd::Work work(&end, "open the run's directory /data/run");
    const SteadyTime deadline = SteadyNow() + kLimit;
    struct stat log{};
    while (fstat(STDERR_FILENO, &log) == 0 && log.st_size == 0 && SteadyNow() < deadline) {
      std::this_thread::yield();
    }
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("this work takes long; waiting for it"), std::string::npos) << log;
  EXPECT_NE(log.find("open the run's directory /data/run"), std::string::npos) << log;
  EXPECT_NE(log.find("the work that took long has returned"), std::string::npos) << log;
  EXPECT_EQ(log.find("list checkpoints"), std::string::npos) << log;
}

TEST_F(ProcessEndTest, WhatIsDecidedFirst_Counts) {
  ProcessEnd end({.patience = milliseconds(1)}, EndNow());
  end.Decided(InternalError("the first"));
  end.Decided(0);
  EXPECT_EQ(Ended(), 1);
}

TEST_F(ProcessEndTest, WhenTheProcessEndsInTime_IsLeftAlone) {
  {
    ProcessEnd undecided({.patience = milliseconds(1)}, EndNow());
    ProcessEnd end({.patience = hours(1)}, EndNow());
    end.Decided(0);
  }
  std::future<int> code = ended_.get_future();
  EXPECT_EQ(code.wait_for(seconds(0)), std::future_status::timeout);
}

TEST_F(ProcessEndTest, WhenToldToStop_EndsBeforeTheGracePeriodDoes) {
  std::stop_source stop;
  ProcessEnd end({.patience = hours(1), .grace = seconds(1), .stop = stop.get_token()}, EndNow());
  end.Decided(85);
  stop.request_stop();
  EXPECT_EQ(Ended(), 85);
}

}  // namespace
}  // namespace pstrain
