#include "local/progress_view.h"

#include <algorithm>
#include <array>

namespace pstrain::local {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTerminalPeriod{200};
constexpr milliseconds kPlainPeriod{3000};
constexpr milliseconds kRatePeriod{1000};
/// Weight of the newest second in the mean of examples per second.
constexpr double kRateWeight = 0.4;
constexpr int kBarWidth = 20;

template <typename... Values>
std::string Print(const char* format, Values... values) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

std::string Bar(double done) {
  const int filled = static_cast<int>(std::clamp(done, 0.0, 1.0) * kBarWidth);
  return "[" + std::string(static_cast<std::size_t>(filled), '#') +
         std::string(static_cast<std::size_t>(kBarWidth - filled), '.') + "]";
}

}  // namespace

std::string ProgressView::Line(const AgentReading& chief) const {
  const double committed = chief.Value("examples_committed");
  const double expected = chief.Value("examples_expected");
  const double done = expected > 0 ? committed / expected : 0;
  std::string line = job_;
  if (terminal_) line += " " + Bar(done);
  line += Print(" %.1f%% step %.0f", done * 100, chief.Value("steps"));
  line += Print(" examples %.0f/%.0f %.0f/s", committed, expected, examples_per_second_);
  if (chief.values.contains("loss")) line += Print(" loss %.4f", chief.Value("loss"));
  if (chief.Value("auc") > 0) line += Print(" auc %.4f", chief.Value("auc"));
  if (examples_per_second_ > 0 && expected > committed) {
    line += Print(" eta %.0fs", (expected - committed) / examples_per_second_);
  }
  return line;
}

void ProgressView::UpdateRate(double committed, SteadyTime now) {
  if (!rate_at_ || committed < rate_committed_) {
    rate_at_ = now;
    rate_committed_ = committed;
    return;
  }
  if (now - *rate_at_ < kRatePeriod) return;
  const double seconds = std::chrono::duration<double>(now - *rate_at_).count();
  const double rate = (committed - rate_committed_) / seconds;
  examples_per_second_ = examples_per_second_ == 0
                             ? rate
                             : (1 - kRateWeight) * examples_per_second_ + kRateWeight * rate;
  rate_at_ = now;
  rate_committed_ = committed;
}

void ProgressView::Update(const AgentReading& chief, SteadyTime now) {
  if (!chief.values.contains("examples_committed")) return;
  UpdateRate(chief.Value("examples_committed"), now);
  if (printed_at_ && now - *printed_at_ < (terminal_ ? kTerminalPeriod : kPlainPeriod)) return;
  printed_at_ = now;
  const std::string line = Line(chief);
  if (terminal_) {
    std::fprintf(out_, "\r\x1b[K%s", line.c_str());
    line_open_ = true;
  } else {
    std::fprintf(out_, "%s\n", line.c_str());
  }
  std::fflush(out_);
}

void ProgressView::Say(const std::string& line) {
  if (line_open_) std::fputs("\r\x1b[K", out_);
  line_open_ = false;
  std::fprintf(out_, "%s\n", line.c_str());
  std::fflush(out_);
}

void ProgressView::Finish() {
  if (line_open_) std::fputs("\n", out_);
  line_open_ = false;
}

}  // namespace pstrain::local
