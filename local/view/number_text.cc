#include "local/view/number_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace pstrain::local {
namespace {

template <typename... Values>
std::string Print(const char* format, Values... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

}  // namespace

std::string CountText(std::int64_t count) {
  constexpr std::size_t kGroup = 3;
  std::string text = std::to_string(count);
  const std::size_t first = text.front() == '-' ? 1 : 0;
  for (std::size_t at = text.size(); at > first + kGroup;) {
    at -= kGroup;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string MetricText(double value) {
  constexpr double kSmall = 0.001;
  constexpr double kLarge = 1000;
  const double size = std::abs(value);
  if (!std::isfinite(value)) return Print("%g", value);
  if (size >= kLarge) return Print("%.6g", value);
  return size == 0 || size >= kSmall ? Print("%.4f", value) : Print("%.1e", value);
}

std::string RateText(double value) {
  constexpr double kThousand = 1e3;
  constexpr double kMillion = 1e6;
  if (value < kThousand) return Print("%.0f", value);
  return value < kMillion ? Print("%.1fk", value / kThousand) : Print("%.1fM", value / kMillion);
}

std::string BytesText(double bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
  constexpr double kStep = 1024;
  if (bytes < kStep) return Print("%.0f B", bytes);
  std::size_t unit = 0;
  for (bytes /= kStep; bytes >= kStep && unit + 1 < kUnits.size(); ++unit) bytes /= kStep;
  return Print("%.1f %s", bytes, kUnits[unit]);
}

std::string DurationText(double seconds) {
  constexpr double kMost = 1e9;
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 3600;
  const auto whole = static_cast<std::int64_t>(std::llround(std::clamp(seconds, 0.0, kMost)));
  if (whole < kMinute) return Print("%llds", static_cast<long long>(whole));
  if (whole < kHour) {
    return Print("%lldm%02llds", static_cast<long long>(whole / kMinute),
                 static_cast<long long>(whole % kMinute));
  }
  return Print("%lldh%02lldm", static_cast<long long>(whole / kHour),
               static_cast<long long>(whole % kHour / kMinute));
}

double Rounded(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  const double scaled = std::round(value * scale);
  return std::isfinite(scaled) ? scaled / scale : value;
}

std::size_t ColumnsOf(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    constexpr unsigned kContinuation = 0x80;
    constexpr unsigned kMask = 0xc0;
    return (static_cast<unsigned char>(c) & kMask) != kContinuation;
  }));
}

}  // namespace pstrain::local
