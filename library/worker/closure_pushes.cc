#include "library/worker/closure_pushes.h"

#include <utility>

#include "runtime/rpc/control_ids.h"
#include "runtime/worker/ps_client.h"

namespace pstrain {
namespace {

using Ending = GrantedCalls::Ending;

/// Who adds waits while more than this waits: as much as is on its way beside it.
constexpr std::size_t kMostBytes = PsClient::kMessageBytes;

}  // namespace

/// A closure, and how far its push has come.
struct ClosurePushes::Pushing {
  Closure closure;
  PushedWork pushed;
  PushProgress progress{{}};
  Report report = {};
};

std::size_t BytesOf(const StepUpdates& updates) {
  std::size_t bytes = 0;
  for (const auto& dense : updates.dense) bytes += dense.values.bytes().size();
  for (const auto& rows : updates.rows) bytes += rows.values.bytes().size();
  return bytes;
}

ClosurePushes::ClosurePushes(GrantedCalls& calls, Ended ended, Stopped stopped)
    : calls_(calls), ended_(std::move(ended)), stopped_(std::move(stopped)) {
  thread_ = std::jthread([this] { Run(); });
}

ClosurePushes::~ClosurePushes() {
  const MutexLock lock(mutex_);
  closing_ = true;
  changed_.NotifyAll();
}

void ClosurePushes::Add(Closure closure) {
  const std::size_t bytes = BytesOf(closure.outcome.updates);
  const MutexLock lock(mutex_);
  while (bytes_ > kMostBytes && !stopped_now_) changed_.Wait(mutex_);
  if (stopped_now_) return;
  bytes_ += bytes;
  waiting_.push_back(std::move(closure));
  if (waiting_.size() == 1) changed_.NotifyAll();
}

std::size_t ClosurePushes::in_flight() const {
  const MutexLock lock(mutex_);
  return waiting_.size() + pushing_;
}

std::vector<ClosurePushes::Closure> ClosurePushes::TakeAll() {
  const MutexLock lock(mutex_);
  pushing_ = 0;
  while (waiting_.empty() && !closing_) changed_.Wait(mutex_);
  pushing_ = waiting_.size();
  if (std::exchange(bytes_, 0) > kMostBytes) changed_.NotifyAll();
  return std::exchange(waiting_, {});
}

void ClosurePushes::Run() {
  while (true) {
    std::vector<Pushing> closures;
    for (Closure& closure : TakeAll()) {
      const WorkId work_id = FromWire(closure.grant.work_id());
      Pushing& added = closures.emplace_back(
          Pushing{.closure = std::move(closure), .pushed = {work_id, kRecordsOfClosure, 0}});
      added.report.set_result(std::move(added.closure.outcome.result));
    }
    if (closures.empty()) return;
    const Result<bool> goes_on = PushAll(std::move(closures));
    if (goes_on.ok() && *goes_on) continue;
    Stop();
    return stopped_(goes_on.status());
  }
}

void ClosurePushes::Stop() {
  const MutexLock lock(mutex_);
  stopped_now_ = true;
  pushing_ = 0;
  waiting_.clear();
  changed_.NotifyAll();
}

Result<bool> ClosurePushes::PushAll(std::vector<Pushing> closures) {
  while (!closures.empty()) {
    std::vector<GrantedCalls::WorkOfGrant> works;
    works.reserve(closures.size());
    for (Pushing& each : closures) {
      works.push_back({each.closure.grant, each.pushed, each.closure.plan,
                       each.closure.outcome.updates, each.progress, each.report});
    }
    PSTRAIN_ASSIGN_OR_RETURN(const GrantedCalls::Round round, calls_.PushOnce(works));
    std::vector<Report> reports;
    std::vector<std::uint64_t> places;
    std::vector<Pushing> open;
    for (std::size_t i = 0; i < closures.size(); ++i) {
      if (!round.ended[i]) {
        open.push_back(std::move(closures[i]));
        continue;
      }
      if (*round.ended[i] == Ending::kGivenUp) return false;
      places.push_back(closures[i].closure.place);
      if (*round.ended[i] == Ending::kDone) reports.push_back(std::move(closures[i].report));
    }
    ended_(std::move(reports), places);
    closures = std::move(open);
    if (!closures.empty() && !calls_.WaitForChange(round.membership)) return false;
  }
  return true;
}

}  // namespace pstrain
