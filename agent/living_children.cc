#include "agent/living_children.h"

#include <charconv>
#include <string>
#include <string_view>

#include "base/files.h"

namespace pstrain {
namespace {

/// State and parent from /proc/<pid>/stat: "pid (command) state ppid ...". Source: proc(5).
bool IsLivingChild(std::string_view stat, pid_t parent) {
  const std::size_t command_end = stat.rfind(") ");
  if (command_end == std::string_view::npos) return false;
  stat.remove_prefix(command_end + 2);
  if (stat.size() < 3 || stat[0] == 'Z' || stat[0] == 'X') return false;
  pid_t of = 0;
  std::from_chars(stat.data() + 2, stat.data() + stat.size(), of);
  return of == parent;
}

}  // namespace

std::vector<pid_t> LivingChildren(pid_t parent) {
  std::vector<pid_t> children;
  const auto names = ListDirectory("/proc");
  if (!names.ok()) return children;
  for (const std::string& name : *names) {
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    const auto stat = ReadFile("/proc/" + name + "/stat");
    if (stat.ok() && IsLivingChild(*stat, parent)) children.push_back(pid);
  }
  return children;
}

}  // namespace pstrain
