#include "runtime/evaluator/read_pauses.h"

#include <gtest/gtest.h>

#include "base/manual_clock.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ReadPausesTest : public testing::Test {
 protected:
  /// `checkpoint` fails now, may be read again after exactly `pause`, and that has passed.
  void ExpectPause(const std::string& checkpoint, milliseconds pause) {
    pauses_.Failed(checkpoint, error_);
    EXPECT_FALSE(pauses_.MayRead(checkpoint));
    clock_.Advance(pause - milliseconds(1));
    EXPECT_FALSE(pauses_.MayRead(checkpoint)) << pause.count();
    clock_.Advance(milliseconds(1));
    EXPECT_TRUE(pauses_.MayRead(checkpoint)) << pause.count();
  }

  const Status error_ = UnavailableError("shard-0: Input/output error");
  ManualClock clock_{seconds(100)};
  ReadPauses pauses_{clock_};
};

TEST_F(ReadPausesTest, WhenACheckpointFailsAgainAndAgain_ThePausesGrowUpToALimit) {
  EXPECT_TRUE(pauses_.MayRead("1-1"));
  for (const int pause : {500, 1000, 2000, 4000, 8000, 10'000, 10'000}) {
    ExpectPause("1-1", milliseconds(pause));
  }
}

TEST_F(ReadPausesTest, WhenThereIsANewerCheckpoint_ItIsReadImmediately) {
  ExpectPause("1-1", milliseconds(500));
  pauses_.Failed("1-1", error_);
  EXPECT_FALSE(pauses_.MayRead("1-1"));
  EXPECT_TRUE(pauses_.MayRead("1-2"));
  ExpectPause("1-2", milliseconds(500));
}

TEST_F(ReadPausesTest, WhenOneCouldBeEvaluated_ThePausesBeginAgain) {
  ExpectPause("1-1", milliseconds(500));
  pauses_.Evaluated();
  EXPECT_TRUE(pauses_.Failed("1-1", error_));
  pauses_.Evaluated();
  ExpectPause("1-1", milliseconds(500));
}

TEST_F(ReadPausesTest, EachReasonOfACheckpointIsNewsOnce) {
  EXPECT_TRUE(pauses_.Failed("1-1", error_));
  EXPECT_FALSE(pauses_.Failed("1-1", error_));
  EXPECT_TRUE(pauses_.Failed("1-1", DataLossError("shard-0 is damaged")));
  EXPECT_FALSE(pauses_.Failed("1-1", DataLossError("shard-0 is damaged")));
  EXPECT_TRUE(pauses_.Failed("1-2", DataLossError("shard-0 is damaged")));
}

}  // namespace
}  // namespace pstrain
