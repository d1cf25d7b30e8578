#include "base/text/hex.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

TEST(ToHex, OfAnyWord_HasSixteenDigitsTheHighestFirst) {
  EXPECT_EQ(ToHex(0), "0000000000000000");
  EXPECT_EQ(ToHex(0x1f), "000000000000001f");
  EXPECT_EQ(ToHex(0xfedcba9876543210), "fedcba9876543210");
}

}  // namespace
}  // namespace pstrain
