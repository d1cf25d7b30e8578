#include "local/view/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pstrain::local {
namespace {

constexpr std::size_t kMostValues = 64;
constexpr std::size_t kLevels = 8;
constexpr std::array<const char*, kLevels> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, kLevels> kAscii = {"_", ".", ":", "-", "=", "+", "*", "#"};

}  // namespace

void Trace::Add(double value) {
  if (!std::isfinite(value)) return;
  sum_ += value;
  if (++pending_ < stride_) return;
  values_.push_back(sum_ / static_cast<double>(stride_));
  sum_ = 0;
  pending_ = 0;
  if (values_.size() < kMostValues) return;
  for (std::size_t i = 0; i < kMostValues / 2; ++i) {
    values_[i] = (values_[2 * i] + values_[2 * i + 1]) / 2;
  }
  values_.resize(kMostValues / 2);
  stride_ *= 2;
}

std::string Sparkline(const std::vector<double>& values, std::size_t width, bool utf8) {
  if (values.size() < 2 || width == 0) return {};
  width = std::min(width, values.size());
  std::vector<double> means(width);
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t begin = i * values.size() / width;
    const std::size_t end = (i + 1) * values.size() / width;
    for (std::size_t j = begin; j < end; ++j) means[i] += values[j];
    means[i] /= static_cast<double>(end - begin);
  }
  const auto [low, high] = std::minmax_element(means.begin(), means.end());
  const double range = *high - *low;
  std::string line;
  for (const double mean : means) {
    const double share = range > 0 ? (mean - *low) / range : 0.5;
    const auto level = static_cast<std::size_t>(std::lround(share * (kLevels - 1)));
    line += utf8 ? kBlocks[level] : kAscii[level];
  }
  return line;
}

}  // namespace pstrain::local
