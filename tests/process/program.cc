#include "tests/process/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/clock.h"
#include "base/os/files.h"

namespace pstrain {
namespace {

std::atomic<int> next_program{0};

void Redirect(const std::string& file, int fd) {
  const int out = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (out < 0 || dup2(out, fd) < 0) _exit(126);
}

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

Program::Program(std::vector<std::string> arguments, std::string directory,
                 std::vector<std::string> environment)
    : directory_(std::move(directory)), name_("program-" + std::to_string(next_program++)) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const std::string out = JoinPath(directory_, name_ + ".out");
  const std::string err = JoinPath(directory_, name_ + ".err");
  pid_ = fork();
  if (pid_ != 0) return;
  if (chdir(directory_.c_str()) != 0) _exit(126);
  for (std::string& setting : environment) putenv(setting.data());
  Redirect(out, STDOUT_FILENO);
  Redirect(err, STDERR_FILENO);
  execv(pointers.front(), pointers.data());
  _exit(127);
}

Program::~Program() {
  if (ended_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Program::Signal(int signal) const { kill(pid_, signal); }

int Program::Wait(std::chrono::seconds limit) {
  Eventually(
      [this] {
        int status = 0;
        if (ended_ || waitpid(pid_, &status, WNOHANG) != pid_) return ended_;
        ended_ = true;
        code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        return true;
      },
      limit);
  return code_;
}

std::string Program::Stdout() const { return Content(JoinPath(directory_, name_ + ".out")); }
std::string Program::Stderr() const { return Content(JoinPath(directory_, name_ + ".err")); }

bool Eventually(const std::function<bool()>& condition, std::chrono::seconds limit) {
  constexpr int kPeriodMillis = 10;
  const auto deadline = SteadyNow() + limit;
  while (!condition()) {
    if (SteadyNow() >= deadline) return false;
    poll(nullptr, 0, kPeriodMillis);
  }
  return true;
}

bool Runs(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return false;
  const std::size_t end = text.rfind(')');
  return end != std::string::npos && end + 2 < text.size() && text[end + 2] != 'Z';
}

}  // namespace pstrain
