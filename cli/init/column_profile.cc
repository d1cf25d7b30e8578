#include "cli/init/column_profile.h"

#include <algorithm>
#include <cmath>

#include "base/text/parse_number.h"
#include "runtime/features/number.h"

namespace pstrain {

void ColumnProfile::Add(std::string_view text) {
  if (text.empty()) {
    ++empty_;
    return;
  }
  ++values_;
  ++texts_[std::string(text)];
  const Result<double> number = ParseNumber(text);
  if (number.ok()) AddNumber(*number, text);
}

void ColumnProfile::AddNumber(double number, std::string_view text) {
  // As a person writes an integer: other texts of the same number would be other categories.
  const auto integer = ParseNumber<std::int64_t>(text);
  if (integer && std::to_string(*integer) == text) ++integers_;
  counts_records_ = counts_records_ && (numbers_ == 0 || number == last_ + 1);
  last_ = number;
  min_ = numbers_ == 0 ? number : std::min(min_, number);
  max_ = numbers_ == 0 ? number : std::max(max_, number);
  // Moments in one pass: Pebay, "Formulas for Robust, One-Pass Parallel Computation", 2008.
  ++numbers_;
  const auto n = static_cast<double>(numbers_);
  const double delta = number - mean_;
  const double step = delta / n;
  const double term = delta * step * (n - 1);
  third_ += term * step * (n - 2) - 3 * step * second_;
  second_ += term;
  mean_ += step;
}

void ColumnProfile::TakeMissing(const std::string& text) {
  const auto found = texts_.find(text);
  if (found == texts_.end()) return;
  values_ -= found->second;
  empty_ += found->second;
  texts_.erase(found);
}

double ColumnProfile::Deviation() const {
  return numbers_ == 0 ? 0 : std::sqrt(second_ / static_cast<double>(numbers_));
}

double ColumnProfile::Skewness() const {
  const double deviation = Deviation();
  if (deviation <= 0) return 0;
  return third_ / static_cast<double>(numbers_) / (deviation * deviation * deviation);
}

std::vector<std::pair<std::string, std::uint64_t>> ColumnProfile::OddTexts() const {
  std::vector<std::pair<std::string, std::uint64_t>> odd;
  for (const auto& [text, count] : texts_) {
    if (!ParseNumber(text).ok()) odd.emplace_back(text, count);
  }
  std::sort(odd.begin(), odd.end());
  return odd;
}

std::vector<std::string> ColumnProfile::ByFrequency() const {
  std::vector<std::pair<std::string, std::uint64_t>> pairs(texts_.begin(), texts_.end());
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::string> texts;
  texts.reserve(pairs.size());
  for (auto& [text, count] : pairs) texts.push_back(std::move(text));
  return texts;
}

}  // namespace pstrain
