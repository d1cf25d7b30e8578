#include "base/os/child_processes.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string>
#include <string_view>

#include "base/os/files.h"

namespace pstrain {
namespace {

/// The parent from /proc/<pid>/stat: "pid (command) state ppid ...". Source: proc(5).
pid_t ParentOf(std::string_view stat) {
  const std::size_t command_end = stat.rfind(") ");
  constexpr std::size_t kFromEndToParent = 4;  // ") S " before the number
  if (command_end == std::string_view::npos) return -1;
  stat.remove_prefix(std::min(stat.size(), command_end + kFromEndToParent));
  pid_t parent = -1;
  std::from_chars(stat.data(), stat.data() + stat.size(), parent);
  return parent;
}

}  // namespace

std::vector<pid_t> ChildProcesses(pid_t parent) {
  std::vector<pid_t> children;
  const auto names = ListDirectory("/proc");
  if (!names.ok()) return children;
  for (const std::string& name : *names) {
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    const auto stat = ReadFile("/proc/" + name + "/stat");
    if (stat.ok() && ParentOf(*stat) == parent) children.push_back(pid);
  }
  return children;
}

void KillChildrenExcept(const std::set<pid_t>& kept) {
  bool found = true;
  // What a child leaves behind becomes a child before its own end can be waited for, so a round
  // that finds nobody is the last one.
  while (found) {
    found = false;
    for (const pid_t pid : ChildProcesses(getpid())) {
      if (kept.contains(pid)) continue;
      found = true;
      kill(pid, SIGKILL);
      while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }
}

}  // namespace pstrain
