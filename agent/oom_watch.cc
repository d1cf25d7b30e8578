#include "agent/oom_watch.h"

#include <charconv>
#include <optional>
#include <vector>

#include "base/os/files.h"

namespace pstrain {
namespace {

std::string_view NextLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// The number of the line "oom_kill N".
std::optional<std::uint64_t> OomKills(std::string_view content) {
  constexpr std::string_view kName = "oom_kill ";
  while (!content.empty()) {
    std::string_view line = NextLine(content);
    if (!line.starts_with(kName)) continue;
    line.remove_prefix(kName.size());
    std::uint64_t kills = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), kills);
    if (error == std::errc()) return kills;
  }
  return std::nullopt;
}

/// Lines of /proc/self/cgroup are "id:controllers:path"; v2 has no controllers.
std::vector<std::string> Candidates(std::string_view root, std::string_view cgroup_of_self) {
  std::vector<std::string> files;
  std::vector<std::string> fallbacks;
  const std::string base(root);
  while (!cgroup_of_self.empty()) {
    const std::string_view line = NextLine(cgroup_of_self);
    const std::size_t first = line.find(':');
    if (first == std::string_view::npos) continue;
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (controllers.empty()) {
      files.push_back(base + path + "/memory.events");
      fallbacks.push_back(base + "/memory.events");
    } else if (("," + std::string(controllers) + ",").find(",memory,") != std::string::npos) {
      files.push_back(base + "/memory" + path + "/memory.oom_control");
      fallbacks.push_back(base + "/memory/memory.oom_control");
    }
  }
  files.insert(files.end(), fallbacks.begin(), fallbacks.end());
  return files;
}

std::optional<std::uint64_t> ReadKills(const std::string& file) {
  const auto content = ReadFile(file);
  if (!content.ok()) return std::nullopt;
  return OomKills(*content);
}

}  // namespace

OomWatch::OomWatch(std::string_view root, std::string_view cgroup_of_self) {
  for (const std::string& file : Candidates(root, cgroup_of_self)) {
    if (ReadKills(file)) {
      file_ = file;
      return;
    }
  }
}

std::uint64_t OomWatch::Kills() const { return file_.empty() ? 0 : ReadKills(file_).value_or(0); }

}  // namespace pstrain
