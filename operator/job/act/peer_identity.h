#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/status.h"
#include "operator/job/observe/issuer_keys.h"
#include "operator/job/observe/job_view.h"
#include "operator/job/reconcile_context.h"
#include "operator/kube/api_client.h"

namespace pstrain::job {

/// The condition of a job whose replicas do not check who calls them, though they could.
inline constexpr char kPeersNotVerified[] = "PeersNotVerified";
/// That of a job whose replicas check it by keys that cannot be read again.
inline constexpr char kIssuerKeysStale[] = "IssuerKeysStale";

/// Lets the replicas of the built-in runtime know each other: decides whether a job's pods get
/// tokens (build/identity_volume.h), and keeps the keys that these are checked by in a ConfigMap of
/// the namespace, written only when the keys have changed. All pods that a job has at one time are
/// alike: one that asks for tokens would refuse one that has none. Any thread; the reconciles of
/// one job do not overlap.
class PeerIdentity {
 public:
  /// Neither reference is owned. `required`: no pod is made without tokens.
  PeerIdentity(kube::ApiClient& client, const OwnedObjectStore& config_maps, bool required)
      : client_(client), config_maps_(config_maps), reader_(client), required_(required) {}

  /// Before pods are made, or for those that there are: true when they have tokens, and the
  /// ConfigMap is there. What does not pass by itself goes into the job's state as refused; what
  /// does is the error.
  Result<bool> Prepare(const ReconcileContext& context) PSTRAIN_EXCLUDES(mutex_);

  /// Why the replicas run, or would run, without; nothing of a job that runs its own program.
  std::optional<Problem> ProblemOf(const ReconcileContext& context) const;
  /// Why the keys that its replicas check each other by may be old; nothing of one that runs
  /// without.
  std::optional<Problem> StaleKeysOf(const ReconcileContext& context) const;
  /// When Prepare has something to do though nothing changes.
  std::optional<plan::Time> NextCheck(const ReconcileContext& context) const;

 private:
  struct Written {
    std::string hash;
    plan::Time at;
  };

  Status Publish(const ReconcileContext& context, const IssuerKeys& keys) PSTRAIN_EXCLUDES(mutex_);
  bool IsPublished(const kube::ObjectKey& key, const std::string& hash, plan::Time now)
      PSTRAIN_EXCLUDES(mutex_);
  Status Create(const ReconcileContext& context, const kube::ObjectKey& key, const Json& keys,
                const std::string& hash) PSTRAIN_EXCLUDES(mutex_);

  kube::ApiClient& client_;
  const OwnedObjectStore& config_maps_;
  IssuerKeyReader reader_;
  const bool required_;
  Mutex mutex_;
  /// By namespace: what we wrote and the cache has not shown.
  std::map<std::string, Written> written_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::job
