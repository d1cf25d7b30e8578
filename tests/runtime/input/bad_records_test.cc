#include "runtime/input/bad_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pstrain {
namespace {

using testing::HasSubstr;

Input Skipping(double fraction) {
  Input input;
  input.mutable_csv()->set_bad_records(Input::Skip);
  input.mutable_csv()->set_max_bad_record_fraction(fraction);
  return input;
}

TEST(CheckBadRecords, CountsEachPassThatHasBegun) {
  const Input input = Skipping(0.01);
  EXPECT_TRUE(CheckBadRecords(input, 1000, 1, 10).ok());
  EXPECT_TRUE(CheckBadRecords(input, 1000, 2, 20).ok());
  const Status status = CheckBadRecords(input, 1000, 2, 21);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              HasSubstr("21 bad records were left out in 2 passes, and csv.maxBadRecords and "
                        "maxBadRecordFraction admit 10 of the input's 1000 a pass"));
}

TEST(CheckBadRecords, WhereNoneIsLeftOut_AdmitsAll) {
  Input input = Skipping(0);
  EXPECT_TRUE(CheckBadRecords(input, 1000, 0, 0).ok());
  EXPECT_FALSE(CheckBadRecords(input, 1000, 1, 1).ok());
  input.mutable_csv()->set_bad_records(Input::Fail);
  EXPECT_TRUE(CheckBadRecords(input, 1000, 1, 1).ok());
}

}  // namespace
}  // namespace pstrain
