#include "local/view/progress_line.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "local/view/number_text.h"
#include "local/view/sparkline.h"

namespace pstrain::local {
namespace {

constexpr double kPercent = 100.0;
constexpr std::size_t kWide = 100;

std::string Bar(double done, std::size_t width) {
  const auto filled =
      static_cast<std::size_t>(std::clamp(done, 0.0, 1.0) * static_cast<double>(width));
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "]";
}

std::string Percent(const ProgressState& state) {
  std::array<char, 16> text{};
  // 100 is said of what is done, not of what nearly is.
  const double percent = std::floor(std::clamp(state.Done(), 0.0, 1.0) * kPercent);
  std::snprintf(text.data(), text.size(), "%3.0f%%", percent);
  return text.data();
}

std::string Examples(const ProgressState& state) {
  return CountText(std::llround(state.committed)) + "/" + CountText(std::llround(state.expected)) +
         " examples";
}

std::string Eta(const ProgressState& state) {
  if (state.examples_per_second <= 0 || state.expected <= state.committed) return {};
  return "eta " + DurationText((state.expected - state.committed) / state.examples_per_second);
}

std::string Rate(const ProgressState& state) {
  return state.examples_per_second <= 0 ? std::string()
                                        : RateText(state.examples_per_second) + "/s";
}

std::string Epochs(const ProgressState& state) {
  if (state.epochs <= 0) return {};
  return "epoch " + std::to_string(state.Epoch()) + "/" + std::to_string(state.epochs);
}

std::string Named(const char* name, const std::optional<double>& value) {
  return value ? std::string(name) + " " + MetricText(*value) : std::string();
}

/// A part of the line, and how soon it goes when there is no room: the highest first.
struct Part {
  std::string text;
  int rank = 0;
};

std::string Joined(const std::vector<Part>& parts) {
  std::string line;
  for (const Part& part : parts) {
    if (part.text.empty()) continue;
    line += (line.empty() ? "" : " ") + part.text;
  }
  return line;
}

}  // namespace

int ProgressState::Epoch() const {
  return std::clamp(static_cast<int>(Done() * epochs) + 1, 1, std::max(epochs, 1));
}

std::string TerminalLine(const ProgressState& state, std::size_t columns, bool utf8) {
  const bool wide = columns > kWide;
  std::vector<Part> parts = {{state.job, 2},
                             {Bar(state.Done(), wide ? 20 : 10), 5},
                             {Percent(state), 0},
                             {Epochs(state), 3},
                             {Named("loss", state.loss), 1},
                             {Sparkline(state.losses, wide ? 16 : 8, utf8), 7},
                             {Named("auc", state.auc), 4},
                             {Eta(state), 6},
                             {Rate(state), 8},
                             {Examples(state), 9}};
  constexpr int kHighestRank = 9;
  for (int rank = kHighestRank; rank > 0 && ColumnsOf(Joined(parts)) >= columns; --rank) {
    for (Part& part : parts) {
      if (part.rank == rank) part.text.clear();
    }
  }
  const std::string line = Joined(parts);
  return ColumnsOf(line) < columns ? line : std::string();
}

std::string LogLine(const ProgressState& state) {
  std::string percent = Percent(state);
  percent.erase(0, percent.find_first_not_of(' '));
  return Joined({{state.job},
                 {percent},
                 {Epochs(state)},
                 {"step " + CountText(std::llround(state.steps))},
                 {Examples(state)},
                 {Rate(state)},
                 {Named("loss", state.loss)},
                 {Named("auc", state.auc)},
                 {Eta(state)}});
}

}  // namespace pstrain::local
