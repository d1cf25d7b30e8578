#include "cli/cluster/logs/log_lines.h"

#include <cstddef>
#include <utility>

namespace pstrain::cluster {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;

}  // namespace

LogLine ParseLogLine(std::string_view line) {
  const std::size_t space = line.find(' ');
  const std::string_view stamp = line.substr(0, space);
  LogLine parsed{.time = ParseRfc3339(stamp)};
  if (!parsed.time) {
    parsed.text = line;
    return parsed;
  }
  parsed.stamp = stamp;
  if (space != std::string_view::npos) parsed.text = line.substr(space + 1);
  return parsed;
}

Status LineSink::Give(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return take_(ParseLogLine(line)) ? OkStatus() : CancelledError("nobody reads the log any more");
}

Status LineSink::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    rest_.append(bytes.substr(0, end));
    bytes = end == std::string_view::npos ? std::string_view() : bytes.substr(end + 1);
    if (end == std::string_view::npos && rest_.size() < kLongestLine) break;
    const std::string line = std::exchange(rest_, {});
    PSTRAIN_RETURN_IF_ERROR(Give(line));
  }
  return OkStatus();
}

Status LineSink::Finish() {
  if (rest_.empty()) return OkStatus();
  const std::string line = std::exchange(rest_, {});
  return Give(line);
}

}  // namespace pstrain::cluster
