#include "local/progress_view.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/os/unique_fd.h"

namespace pstrain::local {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A terminal of so many columns.
class Terminal {
 public:
  explicit Terminal(unsigned short columns) {
    winsize size{24, columns, 0, 0};
    int master = -1;
    int slave = -1;
    if (openpty(&master, &slave, nullptr, nullptr, &size) != 0) std::abort();
    master_.Reset(master);
    out_ = fdopen(slave, "w");
    fcntl(master, F_SETFL, O_NONBLOCK);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { std::fclose(out_); }

  std::FILE* out() { return out_; }
  void Resize(unsigned short columns) {
    winsize size{24, columns, 0, 0};
    ioctl(master_.get(), TIOCSWINSZ, &size);
  }
  std::string TakeBytes() {
    std::string bytes;
    char part[4096];
    for (ssize_t got; (got = read(master_.get(), part, sizeof(part))) > 0;) {
      bytes.append(part, static_cast<std::size_t>(got));
    }
    return bytes;
  }

 private:
  UniqueFd master_;
  std::FILE* out_ = nullptr;
};

/// The lines on a screen that wraps at `columns`, as a terminal does.
std::vector<std::string> Screen(const std::string& bytes, std::size_t columns) {
  std::vector<std::string> lines(1);
  std::size_t column = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes.compare(i, 3, "\x1b[K") == 0) {
      lines.back().resize(column);
      i += 2;
    } else if (bytes[i] == '\r') {
      column = 0;
    } else if (bytes[i] == '\n') {
      lines.emplace_back();
      column = 0;
    } else {
      if (column == columns) {
        lines.emplace_back();
        column = 0;
      }
      lines.back().resize(std::max(lines.back().size(), column + 1));
      lines.back()[column++] = bytes[i];
    }
  }
  return lines;
}

AgentReading Reading(double committed) {
  AgentReading reading;
  reading.values = {{"examples_committed", committed},
                    {"examples_expected", 300'000},
                    {"steps", committed / 32},
                    {"loss", 0.5 - committed / 1e6},
                    {"auc", 0.91234}};
  return reading;
}

class ProgressViewTest : public testing::TestWithParam<unsigned short> {
 protected:
  void SetUp() override { setenv("LC_ALL", "C", 1); }
};

TEST_P(ProgressViewTest, OnATerminal_RewritesOneLine) {
  Terminal terminal(GetParam());
  ProgressView view("a-job-with-a-long-name", terminal.out(), true, 30);
  SteadyTime now = SteadyNow();
  for (int i = 1; i <= 50; ++i) {
    view.Update(Reading(i * 5000.0), now);
    now += std::chrono::milliseconds(250);
  }
  const std::string bytes = terminal.TakeBytes();
  const std::vector<std::string> screen = Screen(bytes, GetParam());
  ASSERT_EQ(screen.size(), 1U) << bytes;
  EXPECT_THAT(screen[0], HasSubstr("83%"));
  view.Say("worker-0 ended");
  view.Update(Reading(260'000), now);
  view.Finish();
  const std::vector<std::string> end = Screen(bytes + terminal.TakeBytes(), GetParam());
  ASSERT_EQ(end.size(), 2U);
  EXPECT_EQ(end[0], "worker-0 ended");
  EXPECT_EQ(end[1], "");
}

INSTANTIATE_TEST_SUITE_P(Columns, ProgressViewTest, testing::Values(40, 80, 120));

TEST(ProgressView, WhenTheWindowIsMadeNarrower_KeepsToIt) {
  Terminal terminal(120);
  EXPECT_EQ(TerminalColumns(terminal.out()), 120U);
  terminal.Resize(50);
  EXPECT_EQ(TerminalColumns(terminal.out()), 50U);
}

TEST(ProgressView, ElsewhereWritesLinesWithoutEscapeCodes) {
  Terminal terminal(80);
  ProgressView view("j", terminal.out(), false, 3);
  view.Update(Reading(1000), SteadyNow());
  view.Finish();
  const std::string bytes = terminal.TakeBytes();
  EXPECT_THAT(bytes, Not(HasSubstr("\x1b")));
  EXPECT_EQ(bytes, "j 0% epoch 1/3 step 31 1,000/300,000 examples loss 0.4990 auc 0.9123\r\n");
}

TEST(IsTerminal, OfAFileOrADumbTerminal_IsFalse) {
  Terminal terminal(80);
  setenv("TERM", "xterm", 1);
  EXPECT_TRUE(IsTerminal(terminal.out()));
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(IsTerminal(terminal.out()));
  std::FILE* file = std::tmpfile();
  setenv("TERM", "xterm", 1);
  EXPECT_FALSE(IsTerminal(file));
  std::fclose(file);
}

}  // namespace
}  // namespace pstrain::local
