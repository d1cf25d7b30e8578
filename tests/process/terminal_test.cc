// `pstrain run` on a terminal, and what it leaves for people: the course of the run as CSV, and a
// page.
#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include "base/clock.h"
#include "base/os/unique_fd.h"
#include "tests/process/small_job.h"

namespace pstrain {
namespace {

using testing::HasSubstr;
using testing::Not;

struct TerminalEnd {
  int code = -1;
  std::string bytes;
};

class TerminalTest : public SmallJob {
 protected:
  /// Runs the job on a terminal of so many columns.
  TerminalEnd RunOnTerminal(unsigned short columns) {
    winsize size{24, columns, 0, 0};
    int master = -1;
    const pid_t pid = forkpty(&master, nullptr, nullptr, &size);
    if (pid == 0) {
      setenv("TERM", "xterm", 1);
      setenv("LC_ALL", "C.UTF-8", 1);
      if (chdir(dir_.path().c_str()) != 0) _exit(127);
      execl(PSTRAIN_BIN_DIR "/pstrain", "pstrain", "run", "job.yaml", "--set",
            "spec.training.epochs=40", nullptr);
      _exit(127);
    }
    const UniqueFd terminal(master);
    TerminalEnd end;
    const SteadyTime until = SteadyNow() + std::chrono::seconds(120);
    std::array<char, 4096> part{};
    while (SteadyNow() < until) {
      pollfd waiting{master, POLLIN, 0};
      poll(&waiting, 1, 1000);
      const ssize_t got =
          (waiting.revents & (POLLIN | POLLHUP)) == 0 ? 0 : read(master, part.data(), part.size());
      if (got < 0) break;  // EIO: the other end is closed
      end.bytes.append(part.data(), static_cast<std::size_t>(got));
    }
    if (SteadyNow() >= until) kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
    return end;
  }
};

TEST_F(TerminalTest, AtEachWidth_EveryRefreshFits) {
  for (const unsigned short columns : std::array<unsigned short, 3>{40, 80, 120}) {
    const TerminalEnd end = RunOnTerminal(columns);
    EXPECT_EQ(end.code, 0) << end.bytes;
    std::size_t refreshes = 0;
    for (std::size_t at = 0; (at = end.bytes.find("\r\x1b[K", at)) != std::string::npos;) {
      at += 4;
      const std::string line = end.bytes.substr(at, end.bytes.find_first_of("\r\n", at) - at);
      if (line.find("epoch ") == std::string::npos) continue;
      ++refreshes;
      const auto letters =
          std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
      EXPECT_LT(letters, columns) << line;
      EXPECT_THAT(line, HasSubstr("/40"));
    }
    EXPECT_GT(refreshes, 0U) << end.bytes;
    // What stays is the summary.
    const std::string summary = end.bytes.substr(end.bytes.rfind("\x1b[K") + 3);
    EXPECT_THAT(summary, HasSubstr("small: Succeeded"));
    EXPECT_THAT(summary, HasSubstr("40,000 of 40,000 examples committed"));
    EXPECT_THAT(summary, Not(HasSubstr("\x1b")));
  }
}

TEST_F(TerminalTest, WithHistoryAndReport_TheCourseIsKept) {
  const ProgramEnd end = Run({"--history", "curve.csv", "--set", "spec.training.epochs=40", "--set",
                              "spec.runPolicy.backoffLimit=3", "--chaos", "worker@30"});
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.err, Not(HasSubstr("\x1b")));
  std::istringstream lines(*ReadFile(dir_.File("curve.csv")));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(line, "kind,seconds,epoch,steps,examples,loss,auc,accuracy,log_loss,calibration,event");
  std::size_t progress = 0;
  std::size_t events = 0;
  while (std::getline(lines, line)) {
    progress += line.starts_with("progress,") ? 1U : 0U;
    events += line.find("worker-0 ended with") != std::string::npos ? 1U : 0U;
  }
  EXPECT_GT(progress, 0U);
  EXPECT_EQ(events, 1U);
  ASSERT_EQ(Start("pstrain", {"report", "small", "-o", "page.html"}).code, 0);
  const std::string page = *ReadFile(dir_.File("page.html"));
  EXPECT_THAT(page, HasSubstr("Succeeded after"));
  EXPECT_THAT(page, HasSubstr("class=\"mark\""));
  // By its id too, and without a script or an address.
  EXPECT_EQ(Start("pstrain", {"report", end.Text("run_id"), "-o", "-"}).out, page);
  EXPECT_THAT(page, Not(HasSubstr("http")));
  const ProgramEnd absent = Start("pstrain", {"report", "other"});
  EXPECT_EQ(absent.code, 1);
  EXPECT_THAT(absent.err, HasSubstr("other: no job or run of that name was run"));
  EXPECT_EQ(Start("pstrain", {"report"}).code, 2);
}

}  // namespace
}  // namespace pstrain
