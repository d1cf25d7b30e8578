#include "base/text/parse_number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace pstrain {
namespace {

TEST(ParseNumber, OfAWholeNumber_IsIt) {
  EXPECT_EQ(ParseNumber<int>("42"), 42);
  EXPECT_EQ(ParseNumber<int>("-7"), -7);
  EXPECT_EQ(ParseNumber<double>("2.5"), 2.5);
  EXPECT_EQ(ParseNumber<std::uint64_t>("18446744073709551615"), UINT64_MAX);
}

TEST(ParseNumber, OfAnythingElse_IsNothing) {
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "x", "1.5", "2147483648"}) {
    EXPECT_FALSE(ParseNumber<int>(text).has_value()) << text;
  }
  EXPECT_FALSE(ParseNumber<std::uint16_t>("-1").has_value());
  EXPECT_FALSE(ParseNumber<std::uint16_t>("65536").has_value());
}

}  // namespace
}  // namespace pstrain
