#include "operator/plan/timestamp.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>

#include "base/text/rfc3339.h"

namespace pstrain::plan {

std::string FormatTimestamp(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  std::array<char, 40> text{};
  const int length = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()));
  return std::string(text.data(), static_cast<std::size_t>(length));
}

std::optional<Time> ParseTimestamp(std::string_view text) {
  constexpr std::size_t kLength = std::string_view("2026-01-02T03:04:05Z").size();
  if (text.size() != kLength || !text.ends_with('Z')) return std::nullopt;
  const auto time = ParseRfc3339(text);
  if (!time) return std::nullopt;
  return std::chrono::time_point_cast<Time::duration>(*time);
}

}  // namespace pstrain::plan
