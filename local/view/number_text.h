#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pstrain::local {

/// Numbers as a person reads them. Pure; any thread.

/// "13,680".
std::string CountText(std::int64_t count);
/// A loss or a metric: "0.0836", "3.2e-05", "1250".
std::string MetricText(double value);
/// A number each second: "950", "11.4k", "2.1M".
std::string RateText(double value);
/// "512 B", "3.3 MiB".
std::string BytesText(double bytes);
/// "4s", "2m10s", "3h05m".
std::string DurationText(double seconds);
/// With at most `decimals` digits behind the point, and none of a binary fraction's remains.
double Rounded(double value, int decimals);

/// Columns that a text of UTF-8 takes on a terminal, a character each.
std::size_t ColumnsOf(std::string_view text);

}  // namespace pstrain::local
