#include "base/text/rfc3339.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

std::int64_t Nanos(std::string_view text) {
  const auto time = ParseRfc3339(text);
  return time ? time->time_since_epoch().count() : -1;
}

TEST(Rfc3339, Parse_OfTimes_CountsFractionsAndOffsets) {
  EXPECT_EQ(Nanos("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(Nanos("1970-01-02T00:00:01Z"), 86'401'000'000'000);
  EXPECT_EQ(Nanos("1970-01-01T00:00:00.123456789Z"), 123'456'789);
  EXPECT_EQ(Nanos("1970-01-01T00:00:00.5Z"), 500'000'000);
  EXPECT_EQ(Nanos("1970-01-01T00:00:00.1234567899Z"), 123'456'789);
  EXPECT_EQ(Nanos("1970-01-01T01:30:00+01:30"), 0);
  EXPECT_EQ(Nanos("1969-12-31T23:00:00-01:00"), 0);
  EXPECT_EQ(Nanos("2024-02-29T12:00:00Z"), 1'709'208'000'000'000'000);
  EXPECT_EQ(Nanos("2016-12-31T23:59:60Z"), Nanos("2017-01-01T00:00:00Z"));
}

TEST(Rfc3339, Parse_OfAnythingElse_IsNothing) {
  for (const char* bad :
       {"", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01 00:00:00Z", "1970-13-01T00:00:00Z",
        "2023-02-29T00:00:00Z", "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z",
        "1970-01-01T00:00:61Z", "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00+1:00",
        "1970-01-01T00:00:00+24:00", "1970-01-01T00:00:00Zx", "9999-01-01T00:00:00Z"}) {
    EXPECT_FALSE(ParseRfc3339(bad)) << bad;
  }
}

}  // namespace
}  // namespace pstrain
