// What the process tests run under the agent: agent_test_child MODE.
//   signals     prints each signal that it gets; ends with 85 on SIGTERM
//   stats       counts 41 steps, not ready; ready on SIGUSR1
//   ps-stats    registers the numbers of a ps; chief-stats: of a chief
//   ignore-term ignores SIGTERM
//   descriptors prints the numbers of its open descriptors
//   hog         takes memory until it is killed
//   leave       starts a process in a session of its own, prints its pid, ends with 0
#include <dirent.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/stats/role_stats.h"

namespace {

void Say(const std::string& line) { std::cout << line << std::endl; }

sigset_t BlockForwarded() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    sigaddset(&set, signal);
  }
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return set;
}

int Signals() {
  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  for (const int signal : {SIGTERM, SIGCHLD, SIGUSR1}) {
    if (sigismember(&mask, signal) == 1) Say("blocked " + std::to_string(signal));
  }
  const sigset_t set = BlockForwarded();
  Say("up " + std::to_string(getpid()));
  while (true) {
    int signal = 0;
    sigwait(&set, &signal);
    Say("got " + std::to_string(signal));
    if (signal == SIGTERM) return 85;
  }
}

std::unique_ptr<pstrain::StatsWriter> OpenStats() {
  auto writer = pstrain::StatsWriter::OpenOrInMemory(std::atoi(getenv("PSTRAIN_STATS_FD")));
  if (writer.ok()) return std::move(writer).value();
  Say(writer.status().ToString());
  std::exit(1);
}

/// Registers the numbers of a role and waits for a signal.
template <typename RoleStats>
int StatsOf() {
  const sigset_t set = BlockForwarded();
  const auto writer = OpenStats();
  const RoleStats role(*writer);
  Say("up " + std::to_string(getpid()));
  int signal = 0;
  sigwait(&set, &signal);
  return 0;
}

int Stats() {
  const sigset_t set = BlockForwarded();
  const auto writer = OpenStats();
  const pstrain::RuntimeStats runtime(*writer);
  const pstrain::WorkerStats worker(*writer);
  worker.steps->Add(41);
  worker.pull_seconds->Add(0.5);
  for (const double seconds : {0.002, 0.02, 0.02, 100.0}) worker.step_duration->Observe(seconds);
  worker.push_duration->Observe(0.0001);
  Say("up " + std::to_string(getpid()));
  while (true) {
    int signal = 0;
    sigwait(&set, &signal);
    if (signal != SIGUSR1) return 0;
    runtime.ready->Set(1);
    Say("ready");
  }
}

int IgnoreTerm() {
  signal(SIGTERM, SIG_IGN);
  Say("up " + std::to_string(getpid()));
  while (true) pause();
}

int Descriptors() {
  DIR* const folder = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name[0] != '.' && name != std::to_string(dirfd(folder))) Say("fd " + name);
  }
  closedir(folder);
  Say("stats " + std::string(getenv("PSTRAIN_STATS_FD")));
  return 0;
}

int Hog() {
  constexpr std::size_t kStep = std::size_t{1} << 20;
  Say("up " + std::to_string(getpid()));
  while (true) {
    // Never given back; the compiler must not see that nobody reads it.
    auto* const memory = static_cast<volatile char*>(std::malloc(kStep));
    if (memory == nullptr) return 1;
    for (std::size_t i = 0; i < kStep; i += 4096) memory[i] = 1;
  }
}

int Leave() {
  const pid_t pid = fork();
  if (pid == 0) {
    setsid();
    while (true) pause();
  }
  Say("left " + std::to_string(pid));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "signals") return Signals();
  if (mode == "stats") return Stats();
  if (mode == "ps-stats") return StatsOf<pstrain::PsStats>();
  if (mode == "chief-stats") return StatsOf<pstrain::ChiefStats>();
  if (mode == "ignore-term") return IgnoreTerm();
  if (mode == "descriptors") return Descriptors();
  if (mode == "hog") return Hog();
  if (mode == "leave") return Leave();
  return 2;
}
