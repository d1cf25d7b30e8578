#include "local/progress_view.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/text/parse_number.h"

namespace pstrain::local {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTerminalPeriod{200};
constexpr milliseconds kPlainPeriod{3000};
constexpr milliseconds kRatePeriod{1000};
/// Weight of the newest second in the mean of examples per second.
constexpr double kRateWeight = 0.4;

std::string_view Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// As setlocale would find it out; programs that are not asked for a language have none.
bool SaysUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = Environment(name);
    if (value.empty()) continue;
    for (const std::string_view form : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
      if (value.find(form) != std::string_view::npos) return true;
    }
    return false;
  }
  return false;
}

std::optional<double> Present(const AgentReading& chief, std::string_view key) {
  const auto value = chief.values.find(key);
  return value == chief.values.end() ? std::optional<double>() : value->second;
}

}  // namespace

bool IsTerminal(std::FILE* out) {
  return isatty(fileno(out)) == 1 && Environment("TERM") != "dumb";
}

std::size_t TerminalColumns(std::FILE* out) {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return ParseNumber<std::size_t>(Environment("COLUMNS")).value_or(kUsual);
}

ProgressView::ProgressView(std::string job, std::FILE* out, bool terminal, int epochs)
    : out_(out), terminal_(terminal), utf8_(SaysUtf8()) {
  state_.job = std::move(job);
  state_.epochs = epochs;
}

void ProgressView::Take(const AgentReading& chief, SteadyTime now) {
  state_.committed = chief.Value("examples_committed");
  state_.expected = chief.Value("examples_expected");
  state_.auc = Present(chief, "auc");
  const bool moved = state_.steps != chief.Value("steps");
  state_.steps = chief.Value("steps");
  state_.loss = Present(chief, "loss");
  if (state_.loss && moved) {
    losses_.Add(*state_.loss);
    state_.losses = losses_.values();
  }
  UpdateRate(state_.committed, now);
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
  state_.examples_per_second =
      state_.examples_per_second == 0
          ? rate
          : (1 - kRateWeight) * state_.examples_per_second + kRateWeight * rate;
  rate_at_ = now;
  rate_committed_ = committed;
}

void ProgressView::Update(const AgentReading& chief, SteadyTime now) {
  if (!chief.values.contains("examples_committed")) return;
  Take(chief, now);
  if (printed_at_ && now - *printed_at_ < (terminal_ ? kTerminalPeriod : kPlainPeriod)) return;
  printed_at_ = now;
  if (terminal_) {
    // Asked each time: a window may change its width.
    const std::string line = TerminalLine(state_, TerminalColumns(out_), utf8_);
    std::fprintf(out_, "\r\x1b[K%s", line.c_str());
    line_open_ = true;
  } else {
    std::fprintf(out_, "%s\n", LogLine(state_).c_str());
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
  if (line_open_) std::fputs("\r\x1b[K", out_);
  line_open_ = false;
  std::fflush(out_);
}

}  // namespace pstrain::local
