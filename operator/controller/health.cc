#include "operator/controller/health.h"

namespace pstrain::kube {

void HealthChecks::Add(std::string name, HealthCheck check) {
  const MutexLock lock(mutex_);
  checks_.emplace_back(std::move(name), std::move(check));
}

Status HealthChecks::Check() const {
  std::vector<std::pair<std::string, HealthCheck>> checks;
  {
    const MutexLock lock(mutex_);
    checks = checks_;
  }
  std::string reasons;
  for (const auto& [name, check] : checks) {
    const Status status = check();
    if (status.ok()) continue;
    if (!reasons.empty()) reasons += "; ";
    reasons += name + ": " + status.message();
  }
  return reasons.empty() ? OkStatus() : UnavailableError(std::move(reasons));
}

}  // namespace pstrain::kube
