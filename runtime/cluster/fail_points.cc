#include "runtime/cluster/fail_points.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/os/files.h"
#include "base/os/unique_fd.h"
#include "base/text/parse_number.h"

namespace pstrain {
namespace {

/// By the values of FailPoint.
constexpr std::array<std::string_view, 11> kNames = {
    "worker-between-ps",       "worker-report-sent",           "ps-before-apply",
    "ps-before-reply",         "ps-between-checkpoint-shards", "chief-between-checkpoint-shards",
    "chief-before-rename",     "chief-after-rename",           "chief-report-counted",
    "chief-before-early-stop", "chief-after-early-stop"};

constexpr std::uint32_t Bit(std::size_t point) { return std::uint32_t{1} << point; }

struct Entry {
  std::size_t point = 0;
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;
  std::uint32_t pass = 0;
};

/// Checkpoints the text up to the next `separator` off its front.
std::string_view TakeUntil(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

Result<Entry> ParseEntry(std::string_view text) {
  const auto bad = [text](const std::string& reason) {
    return InvalidArgumentError("fail point " + std::string(text) + ": " + reason +
                                "; the form is POINT:INDEX:ATTEMPT:PASS");
  };
  std::string_view rest = text;
  const std::string_view name = TakeUntil(rest, ':');
  Entry entry;
  while (entry.point < kNames.size() && kNames[entry.point] != name) ++entry.point;
  if (entry.point == kNames.size()) return bad("no such point");
  for (std::uint32_t* number : {&entry.index, &entry.attempt, &entry.pass}) {
    const auto parsed = ParseNumber<std::uint32_t>(TakeUntil(rest, ':'));
    if (!parsed) return bad("INDEX, ATTEMPT and PASS are numbers from 0");
    *number = *parsed;
  }
  if (entry.pass == 0) return bad("passes are counted from 1");
  if (!rest.empty()) return bad("something follows PASS");
  return entry;
}

bool IsOf(const Entry& entry, const FailPoints::Self& self) {
  std::string_view name = kNames[entry.point];
  return TakeUntil(name, '-') == self.role && entry.index == self.index &&
         entry.attempt == self.attempt;
}

}  // namespace

struct FailPoints::Armed {
  struct Trap {
    std::size_t point = 0;
    std::uint32_t pass = 0;
    std::string mark;
  };
  std::vector<Trap> traps;
  std::array<std::atomic<std::uint32_t>, kNames.size()> passes{};
};

FailPoints::FailPoints() = default;
FailPoints::FailPoints(FailPoints&&) noexcept = default;
FailPoints& FailPoints::operator=(FailPoints&&) noexcept = default;
FailPoints::~FailPoints() = default;

Result<FailPoints> FailPoints::Parse(std::string_view text, const Self& self,
                                     const std::string& directory) {
  FailPoints points;
  while (!text.empty()) {
    const std::string_view name = TakeUntil(text, ',');
    PSTRAIN_ASSIGN_OR_RETURN(const Entry entry, ParseEntry(name));
    points.named_ |= Bit(entry.point);
    if (!IsOf(entry, self)) continue;
    if (points.armed_ == nullptr) points.armed_ = std::make_unique<Armed>();
    points.armed_->traps.push_back(
        {entry.point, entry.pass, JoinPath(directory, "fired-" + std::string(name))});
  }
  return points;
}

const FailPoints& FailPoints::None() {
  static const FailPoints none;
  return none;
}

bool FailPoints::Named(FailPoint point) const {
  return (named_ & Bit(static_cast<std::size_t>(point))) != 0;
}

void FailPoints::PassArmed(FailPoint point) const {
  const auto index = static_cast<std::size_t>(point);
  const std::uint32_t pass = armed_->passes[index].fetch_add(1, std::memory_order_relaxed) + 1;
  for (const Armed::Trap& trap : armed_->traps) {
    if (trap.point != index || trap.pass != pass) continue;
    {
      const UniqueFd mark(open(trap.mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    }
    kill(getpid(), SIGKILL);
  }
}

}  // namespace pstrain
