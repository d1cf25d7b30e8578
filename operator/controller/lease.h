#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "base/text/json.h"
#include "operator/kube/resource.h"

namespace pstrain::kube {

/// The spec of a coordination.k8s.io/v1 Lease. A value.
struct LeaseRecord {
  std::string holder;  // empty: released
  std::int64_t duration_seconds = 0;
  std::string acquire_time;  // MicroTime
  std::string renew_time;    // MicroTime
  std::int64_t transitions = 0;
  std::string resource_version;

  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

/// INVALID_ARGUMENT names the field of the wrong type; absent fields stay empty.
Result<LeaseRecord> DecodeLease(const Json& lease);
/// The object for a create (resource_version empty) or a conditional replace.
Json EncodeLease(const ObjectKey& key, const LeaseRecord& record);
/// RFC 3339 with microseconds, as MicroTime wants it: "2026-01-31T12:00:00.000000Z".
std::string MicroTime(std::int64_t unix_millis);

/// Judges whether the lease of another has run out: by our own steady clock since its record last
/// changed, never by comparing its timestamps with our wall clock. One thread.
class LeaseObserver {
 public:
  /// A record was read at `now`. Whether the lease may be taken: released, ours, or unchanged for
  /// as long as the record's own duration.
  bool MayAcquire(const LeaseRecord& record, const std::string& identity,
                  std::chrono::nanoseconds now);

 private:
  LeaseRecord seen_;
  bool any_seen_ = false;
  std::chrono::nanoseconds changed_at_{0};
};

}  // namespace pstrain::kube
