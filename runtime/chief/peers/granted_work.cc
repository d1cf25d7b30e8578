#include "runtime/chief/peers/granted_work.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "runtime/cluster/limits.h"

namespace pstrain {
namespace {

/// Remembered of what was taken back: what a few polls can name.
constexpr std::size_t kFormer = std::size_t{4} * kMostInFlight;

}  // namespace

bool GrantedWork::MayReport(WorkId work_id) const {
  return granted_.contains(work_id) || std::ranges::count(former_, work_id) > 0 ||
         reported_.contains(work_id) || reported_before_.contains(work_id);
}

void GrantedWork::BeginReports() { reported_before_ = std::exchange(reported_, {}); }

void GrantedWork::Reported(WorkId work_id) {
  granted_.erase(work_id);
  std::erase(former_, work_id);
  reported_.insert(work_id);
}

GrantedWork::Change GrantedWork::Keep(const std::vector<WorkId>& in_flight) {
  Change change;
  std::set<WorkId> kept;
  for (const WorkId work_id : in_flight) {
    if (MayReport(work_id)) {
      kept.insert(work_id);
    } else {
      change.unknown.push_back(work_id);
    }
  }
  for (const WorkId work_id : granted_) {
    if (!kept.contains(work_id)) change.returned.push_back(work_id);
  }
  former_.insert(former_.end(), change.returned.begin(), change.returned.end());
  std::erase_if(former_, [&kept](WorkId work_id) { return kept.contains(work_id); });
  if (former_.size() > kFormer) {
    former_.erase(former_.begin(), former_.end() - static_cast<std::ptrdiff_t>(kFormer));
  }
  granted_ = std::move(kept);
  return change;
}

}  // namespace pstrain
