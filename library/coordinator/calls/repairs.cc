#include "library/coordinator/calls/repairs.h"

#include <utility>

namespace pstrain {

bool Repairs::Failed(std::uint64_t call, bool unwanted, const Status& error) {
  Attempts& attempts = failed_[call];
  attempts.last = error;
  if (++attempts.count != kMostAttempts) return false;
  if (unwanted) unwanted_.insert(call);
  return true;
}

Status Repairs::Ended(std::uint64_t call) {
  const auto found = failed_.find(call);
  if (found == failed_.end()) return OkStatus();
  Status last = std::move(found->second.last);
  failed_.erase(found);
  return last;
}

}  // namespace pstrain
