#include "runtime/cluster/process_end.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <stop_token>

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
