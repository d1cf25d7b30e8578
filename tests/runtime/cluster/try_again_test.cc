#include "runtime/cluster/try_again.h"

#include <gtest/gtest.h>

#include <vector>

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class TryAgainTest : public testing::Test {
 protected:
  TryAgain Patience(std::chrono::nanoseconds limit) {
    return {limit, [this](std::chrono::nanoseconds pause) {
              pauses_.push_back(pause);
              return pauses_.size() < 100;
            }};
  }
  Result<int> FailTimes(int times, const Status& status) {
    if (attempts_++ < times) return status;
    return 7;
  }

  std::vector<std::chrono::nanoseconds> pauses_;
  int attempts_ = 0;
};

TEST_F(TryAgainTest, WhenTheDiskRecovers_TheValueComesAfterGrowingPauses) {
  const Result<int> value =
      Patience(seconds(60)).Until([&] { return FailTimes(3, UnavailableError("EIO")); });
  EXPECT_EQ(*value, 7);
  EXPECT_EQ(pauses_, (std::vector<std::chrono::nanoseconds>{milliseconds(100), milliseconds(200),
                                                            milliseconds(400)}));
}

TEST_F(TryAgainTest, WhenTheDiskDoesNotRecover_TheErrorComesAfterTheLimit) {
  const Result<int> value =
      Patience(seconds(60)).Until([&] { return FailTimes(1000, UnavailableError("EIO")); });
  EXPECT_EQ(value.status().code(), StatusCode::kUnavailable);
  std::chrono::nanoseconds waited{0};
  for (const auto pause : pauses_) waited += pause;
  EXPECT_GE(waited, seconds(60));
  EXPECT_LT(waited, seconds(71));
}

TEST_F(TryAgainTest, WhenTryingAgainCannotHelp_TheErrorComesImmediately) {
  for (const StatusCode code :
       {StatusCode::kDataLoss, StatusCode::kNotFound, StatusCode::kFailedPrecondition,
        StatusCode::kPermissionDenied, StatusCode::kResourceExhausted}) {
    EXPECT_EQ(Patience(seconds(60))
                  .Until([&] { return Result<int>(Status(code, "no")); })
                  .status()
                  .code(),
              code);
  }
  EXPECT_TRUE(pauses_.empty());
  EXPECT_EQ(*Patience(seconds(60))
                 .Until([&] { return FailTimes(1, Status(StatusCode::kPermissionDenied, "no")); },
                        TryAgain::ReadMayPass),
            7);
}

}  // namespace
}  // namespace pstrain
