// A whole job over a bad network: each replica on a host of its own, a round trip of 400 ms from
// all others, one packet of 20 lost and one of 10 overtaken.
#include <gtest/gtest.h>

#include "tests/process/faults/network_fixture.h"

namespace pstrain {
namespace {

TEST_F(NetworkTest, Job_WhenPacketsAreLateLostAndOvertaken_EndsExactly) {
  if (IsSkipped()) return;
  AddEvaluator();
  Connect({.delay = std::chrono::milliseconds(200), .lost = 0.05, .late = 0.1});
  if (IsSkipped()) return;
  SetEpochs(1);
  SetRecords(5000);
  StartAll();
  EXPECT_EQ(chief_->Wait(std::chrono::seconds(1500)), 0) << Logs();
  ExpectExact();
}

}  // namespace
}  // namespace pstrain
