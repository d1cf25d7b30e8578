#include "base/text/rfc3339.h"

#include <algorithm>
#include <cstddef>

namespace pstrain {
namespace {

using std::chrono::nanoseconds;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// The text has a digit where the shape has a d, and its characters elsewhere.
bool HasShape(std::string_view text, std::string_view shape) {
  return std::ranges::equal(
      text, shape, [](char c, char wanted) { return wanted == 'd' ? IsDigit(c) : c == wanted; });
}

int Number(std::string_view digits) {
  int value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return value;
}

/// ".123" at the beginning of `rest`, which loses it.
std::optional<nanoseconds> TakeFraction(std::string_view& rest) {
  if (!rest.starts_with('.')) return nanoseconds(0);
  std::size_t digits = 0;
  nanoseconds fraction(0);
  nanoseconds unit = std::chrono::milliseconds(100);
  rest.remove_prefix(1);
  for (; digits < rest.size() && IsDigit(rest[digits]); ++digits) {
    fraction += unit * (rest[digits] - '0');
    unit /= 10;
  }
  rest.remove_prefix(digits);
  if (digits == 0) return std::nullopt;
  return fraction;
}

/// "Z" or "+01:00", all of `text`.
std::optional<std::chrono::minutes> ParseOffset(std::string_view text) {
  if (text == "Z" || text == "z") return std::chrono::minutes(0);
  if (!HasShape(text, "+dd:dd") && !HasShape(text, "-dd:dd")) return std::nullopt;
  const int hours = Number(text.substr(1, 2));
  const int minutes = Number(text.substr(4, 2));
  if (hours > 23 || minutes > 59) return std::nullopt;
  const std::chrono::minutes offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
  return text.front() == '-' ? -offset : offset;
}

}  // namespace

std::optional<UnixNanos> ParseRfc3339(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  if (!HasShape(text.substr(0, kShape.size()), kShape)) return std::nullopt;
  const std::chrono::year_month_day date{
      std::chrono::year(Number(text.substr(0, 4))),
      std::chrono::month(static_cast<unsigned>(Number(text.substr(5, 2)))),
      std::chrono::day(static_cast<unsigned>(Number(text.substr(8, 2))))};
  const int hour = Number(text.substr(11, 2));
  const int minute = Number(text.substr(14, 2));
  const int second = Number(text.substr(17, 2));
  constexpr int kFirstYear = 1678;  // the nanoseconds of years outside do not fit 64 bits
  constexpr int kLastYear = 2261;
  const int year = static_cast<int>(date.year());
  if (!date.ok() || year < kFirstYear || year > kLastYear) return std::nullopt;
  if (hour > 23 || minute > 59 || second > 60) return std::nullopt;
  text.remove_prefix(kShape.size());
  const auto fraction = TakeFraction(text);
  const auto offset = ParseOffset(text);
  if (!fraction || !offset) return std::nullopt;
  return UnixNanos(std::chrono::sys_days(date)) + std::chrono::hours(hour) +
         std::chrono::minutes(minute) + std::chrono::seconds(second) + *fraction - *offset;
}

}  // namespace pstrain
