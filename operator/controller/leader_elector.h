#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics/collector.h"
#include "base/random.h"
#include "base/status.h"
#include "operator/controller/lease.h"
#include "operator/kube/api_client.h"

namespace pstrain::kube {

/// Lets one of several processes lead, by a Lease. Owned by main; Run on one thread, the rest from
/// any. There is no fencing: what the leader writes must be safe to repeat.
///
///   state    | lease free or ours | another's           | error              | stop
///   waiting  | leading            | waiting             | waiting            | ended: OK
///   leading  | leading (renewed)  | ended: ABORTED      | ended: ABORTED when not renewed
///            |                    |                     | for renew_deadline | released, ended: OK
class LeaderElector {
 public:
  struct Options {
    ObjectKey lease;
    std::string identity;  // unique to this process, e.g. pod name and a random part
    /// REQUIRES: lease_duration > renew_deadline > 1.2 x retry_period.
    std::chrono::seconds lease_duration{15};
    std::chrono::nanoseconds renew_deadline = std::chrono::seconds(10);
    std::chrono::nanoseconds retry_period = std::chrono::seconds(2);
    /// At most between two tries of one that waits: bounds a hand-over.
    std::chrono::nanoseconds wait_period = std::chrono::seconds(1);
    std::uint64_t seed = 0;  // of the jitter
  };

  /// What the leader does: returns soon after `stop` is requested.
  using Lead = std::function<void(const std::stop_token& stop)>;

  /// For the client of an elector: the lane of the Lease, and no call that lasts longer than half
  /// of the renew deadline.
  static ApiClient::Options ClientOptions(const Options& options, ClientMetrics* metrics);

  /// `client` has ClientOptions. Nothing is owned.
  LeaderElector(ApiClient& client, Pause& pause, const Clock& clock, Options options);

  /// Waits for the lease, then runs `lead` on a thread while renewing it. At `stop` it first waits
  /// for `lead` to end and then releases the lease, so that the next one may begin immediately: OK.
  /// The same when `lead` returns by itself. ABORTED when the lease was lost: `lead` has ended, and
  /// the process should exit non-zero.
  Status Run(const Lead& lead, const std::stop_token& stop);

  bool IsLeader() const { return leading_.load(); }

  /// OK unless this process leads and has not renewed for longer than the lease lasts: a liveness
  /// check that does not depend on the apiserver for those who do not lead.
  Status Healthy() const;

  /// leader_election_master_status, as client-go names it.
  std::vector<MetricFamily> Collect() const;

 private:
  enum class Outcome : std::uint8_t { kHeld, kOthers, kFailed };

  Outcome TryAcquireOrRenew(const std::stop_token& stop);
  Outcome Renew(const std::string& now, const std::stop_token& stop);
  Outcome Write(const LeaseRecord& record, const std::stop_token& stop);
  /// ABORTED when the lease is lost, OK at `stop`.
  Status KeepRenewing(const std::stop_token& stop);
  void Release();
  /// False when the server refused because the record has changed.
  bool WriteReleased(LeaseRecord record);

  ApiClient& client_;
  Pause& pause_;
  const Clock& clock_;
  const Options options_;
  Rng rng_;
  LeaseObserver observer_;
  std::optional<LeaseRecord> held_;
  std::atomic<bool> leading_{false};
  std::atomic<std::int64_t> renewed_at_ns_{0};
};

}  // namespace pstrain::kube
