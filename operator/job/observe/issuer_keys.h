#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/mutex.h"
#include "base/status.h"
#include "operator/job/observe/problem/problem.h"
#include "operator/kube/api_client.h"
#include "operator/plan/snapshot.h"

namespace pstrain::job {

/// Whom the cluster's service-account tokens come from, and the public keys that they are signed
/// by, as the apiserver publishes them (ServiceAccountIssuerDiscovery, KEP-1393).
struct IssuerKeys {
  std::string issuer;
  /// A JSON Web Key Set (RFC 7517).
  std::string jwks;
  friend bool operator==(const IssuerKeys&, const IssuerKeys&) = default;
};

/// Reads them, five minutes after the last time at the earliest: a cluster may change its keys. Any
/// thread; one of them reads, and the others go on with what there was.
class IssuerKeyReader {
 public:
  struct Reading {
    /// Null: nobody can know them, for this reason.
    std::shared_ptr<const IssuerKeys> keys;
    std::optional<Problem> problem;
    /// Since two reads should have brought them, none has: replicas that have keys go on with them,
    /// and do not hear of new ones. The next read that succeeds ends it.
    std::optional<Problem> stale = std::nullopt;
  };

  /// `client` is not owned.
  explicit IssuerKeyReader(kube::ApiClient& client) : client_(client) {}

  /// Keys that were read once stay when they cannot be read again. While it may only be a moment
  /// that they cannot be read, for a minute, the error of that.
  Result<Reading> Read(plan::Time now, const std::stop_token& stop) PSTRAIN_EXCLUDES(mutex_);

  /// What Read said last; nothing before it has said anything.
  std::optional<Reading> Last() const PSTRAIN_EXCLUDES(mutex_);
  /// When to read again.
  plan::Time NextRead() const PSTRAIN_EXCLUDES(mutex_);

 private:
  kube::ApiResult<IssuerKeys> Fetch(const std::stop_token& stop);
  std::optional<Problem> StaleAt(plan::Time now, const kube::ApiError& error) const
      PSTRAIN_REQUIRES(mutex_);
  Result<Reading> Failed(const kube::ApiError& error, plan::Time now) PSTRAIN_REQUIRES(mutex_);

  kube::ApiClient& client_;
  mutable Mutex mutex_;
  bool reading_ PSTRAIN_GUARDED_BY(mutex_) = false;
  std::optional<Reading> last_ PSTRAIN_GUARDED_BY(mutex_);
  plan::Time next_read_ PSTRAIN_GUARDED_BY(mutex_){};
  std::optional<plan::Time> failing_since_ PSTRAIN_GUARDED_BY(mutex_);
  /// The last time that they were read; nothing before this operator has read them.
  std::optional<plan::Time> read_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::job
