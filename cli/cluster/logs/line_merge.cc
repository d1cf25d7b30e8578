#include "cli/cluster/logs/line_merge.h"

#include <algorithm>
#include <utility>

namespace pstrain::cluster {
namespace {

constexpr std::size_t kMostLines = 1000;

}  // namespace

bool LineMerge::Put(std::size_t stream, LogLine line) {
  const MutexLock lock(mutex_);
  Stream& own = streams_[stream];
  while (own.lines.size() >= kMostLines && !stopped_) changed_.Wait(mutex_);
  if (stopped_) return false;
  if (line.time) own.last_time = *line.time;
  own.lines.push_back({.line = std::move(line), .time = own.last_time, .arrived = clock_.Now()});
  changed_.NotifyAll();
  return true;
}

void LineMerge::End(std::size_t stream) {
  const MutexLock lock(mutex_);
  streams_[stream].ended = true;
  changed_.NotifyAll();
}

void LineMerge::Stop() {
  const MutexLock lock(mutex_);
  stopped_ = true;
  changed_.NotifyAll();
}

const LineMerge::Stream* LineMerge::Earliest() const {
  const Stream* earliest = nullptr;
  for (const Stream& stream : streams_) {
    if (stream.lines.empty()) continue;
    if (earliest == nullptr || stream.lines.front().time < earliest->lines.front().time) {
      earliest = &stream;
    }
  }
  return earliest;
}

bool LineMerge::AllKnown() const {
  return std::ranges::all_of(
      streams_, [](const Stream& stream) { return stream.ended || !stream.lines.empty(); });
}

std::optional<LineMerge::Next> LineMerge::TakeNext() {
  const MutexLock lock(mutex_);
  while (true) {
    const Stream* earliest = Earliest();
    const bool all_known = AllKnown();
    if (earliest == nullptr && all_known) return std::nullopt;
    if (earliest == nullptr || (!all_known && hold_ == kForEver)) {
      changed_.Wait(mutex_);
      continue;
    }
    const std::chrono::nanoseconds due =
        all_known ? std::chrono::nanoseconds(0) : earliest->lines.front().arrived + hold_;
    if (!all_known && clock_.Now() < due) {
      changed_.WaitUntil(mutex_, SteadyTime(due));
      continue;
    }
    const auto stream = static_cast<std::size_t>(earliest - streams_.data());
    Next next{.stream = stream, .line = std::move(streams_[stream].lines.front().line)};
    streams_[stream].lines.pop_front();
    changed_.NotifyAll();
    return next;
  }
}

}  // namespace pstrain::cluster
