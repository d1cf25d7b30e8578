// Another number of ps while the job trains, as real processes. The runtime runs without pstrain
// run and the operator: the test starts ps, tells them to stop, and writes the file that the chief
// reads.
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "proto/contract/exit_codes.h"
#include "tests/process/replicas_fixture.h"

namespace pstrain {
namespace {

class ScaleTest : public ReplicasTest {
 protected:
  void SetUp() override {
    ReplicasTest::SetUp();
    BarrierAt(20);
    BarrierAt(60);
    StartAll();
  }

  /// ps 2 comes, and the job trains on with it beyond 40 %.
  void ScaleToThree() {
    Scale(3);
    ps_.push_back(Start("ps", 2, 3));
    ASSERT_TRUE(Eventually([this] { return MovedTo(2); }, kLimit)) << Logs();
    Continue(20);
    ASSERT_TRUE(Eventually([this] { return Saved() > examples() * 4 / 10; }, kLimit)) << Logs();
  }
  /// The job ends well, with every example once.
  void ExpectTheRestIsExact() {
    Continue(60);
    ExpectExact();
  }
};

TEST_F(ScaleTest, Ps_TwoThenThreeThenOne_EveryExampleIsAppliedOnce) {
  ScaleToThree();
  Scale(1);
  // Both are emptied, and end when they are told to.
  ASSERT_TRUE(Eventually([this] { return MovedTo(0); }, kLimit)) << Logs();
  for (const std::size_t index : {1u, 2u}) ps_[index]->Signal(SIGTERM);
  for (const std::size_t index : {1u, 2u}) {
    EXPECT_EQ(ps_[index]->Wait(kLimit), kExitDrained) << ps_[index]->Stderr();
  }
  ExpectTheRestIsExact();
  EXPECT_EQ(chief_->Stderr().find("a ps is silent"), std::string::npos);
}

TEST_F(ScaleTest, Ps_WhenTheSurplusOnesAreKilledInstead_TheirShardsAreRestoredOnTheRemainingOne) {
  ScaleToThree();
  for (const std::size_t index : {1u, 2u}) {
    ps_[index]->Signal(SIGKILL);
    EXPECT_EQ(ps_[index]->Wait(kLimit), 128 + SIGKILL);
  }
  Scale(1);
  ExpectTheRestIsExact();
}

}  // namespace
}  // namespace pstrain
