#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/metrics/admin_server.h"
#include "base/mutex.h"
#include "base/status.h"

namespace pstrain::kube {

/// Named checks with one verdict: what AdminServer asks for /healthz and /readyz. Any thread;
/// outlives the server.
class HealthChecks {
 public:
  /// For the life of this object. `check` may be called by several threads concurrently.
  void Add(std::string name, HealthCheck check) PSTRAIN_EXCLUDES(mutex_);

  /// OK when all are; else UNAVAILABLE with "name: reason" of each that is not.
  Status Check() const PSTRAIN_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::vector<std::pair<std::string, HealthCheck>> checks_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::kube
