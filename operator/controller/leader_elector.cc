#include "operator/controller/leader_elector.h"

#include <thread>
#include <utility>

#include "base/log.h"
#include "base/seconds.h"
#include "operator/controller/metric_definitions.h"

namespace pstrain::kube {

LeaderElector::LeaderElector(ApiClient& client, Pause& pause, const Clock& clock, Options options)
    : client_(client),
      pause_(pause),
      clock_(clock),
      options_(std::move(options)),
      rng_(options_.seed) {}

ApiClient::Options LeaderElector::ClientOptions(const Options& options, ClientMetrics* metrics) {
  ApiClient::Options client;
  client.lane = Lane::kLease;
  client.retries = 0;
  client.request_timeout = options.renew_deadline / 2;
  client.metrics = metrics;
  return client;
}

Status LeaderElector::Run(const Lead& lead, const std::stop_token& stop) {
  while (TryAcquireOrRenew(stop) != Outcome::kHeld) {
    // Several who wait shall not all ask at the same time.
    const double part = 0.5 + rng_.NextDouble() / 2;
    const auto wait =
        std::chrono::duration_cast<std::chrono::nanoseconds>(options_.wait_period * part);
    if (!pause_.For(wait, stop)) return OkStatus();
  }
  LogInfo("leader", "became the leader",
          {{"lease", options_.lease.ToString()}, {"identity", options_.identity}});
  leading_.store(true);
  // Ends the renewing: at `stop`, and when `lead` returns by itself.
  std::stop_source done;
  const std::stop_callback pass_on(stop, [&done] { done.request_stop(); });
  std::jthread leader([&lead, &done](const std::stop_token& end) {
    lead(end);
    done.request_stop();
  });
  Status ended = KeepRenewing(done.get_token());
  leader.request_stop();
  if (!ended.ok()) LogError("leader", "lost the lease", {{"error", ended}});
  leader.join();
  leading_.store(false);
  if (ended.ok()) Release();
  return ended;
}

Status LeaderElector::KeepRenewing(const std::stop_token& stop) {
  while (pause_.For(options_.retry_period, stop)) {
    const Outcome outcome = TryAcquireOrRenew(stop);
    if (stop.stop_requested()) return OkStatus();
    if (outcome == Outcome::kOthers) {
      return AbortedError("lease " + options_.lease.ToString() + " is now held by another process");
    }
    const auto age = clock_.Now() - std::chrono::nanoseconds(renewed_at_ns_.load());
    if (outcome == Outcome::kFailed && age >= options_.renew_deadline) {
      return AbortedError("lease " + options_.lease.ToString() + " could not be renewed for " +
                          WholeSeconds(age));
    }
  }
  return OkStatus();
}

LeaderElector::Outcome LeaderElector::TryAcquireOrRenew(const std::stop_token& stop) {
  const std::string now = MicroTime(clock_.UnixMillis());
  if (held_) {
    const Outcome outcome = Renew(now, stop);
    if (outcome != Outcome::kOthers) return outcome;
  }
  const ApiResult<Json> found = client_.Get(LeaseResource(), options_.lease, stop);
  LeaseRecord record;
  if (found.ok()) {
    Result<LeaseRecord> decoded = DecodeLease(*found);
    if (!decoded.ok()) {
      LogError("leader", "cannot read the lease", {{"error", decoded.status()}});
      return Outcome::kFailed;
    }
    record = std::move(*decoded);
    if (!observer_.MayAcquire(record, options_.identity, clock_.Now())) return Outcome::kOthers;
  } else if (found.error().status.code() != StatusCode::kNotFound) {
    LogWarning("leader", "cannot read the lease", {{"error", found.status()}});
    return Outcome::kFailed;
  }
  const bool ours = record.holder == options_.identity;
  // Whoever led and finds the lease changed hands has lost it, also if it is free again.
  if (held_ && !ours) return Outcome::kOthers;
  if (!ours) {
    record.holder = options_.identity;
    record.acquire_time = now;
    if (!record.resource_version.empty()) ++record.transitions;
  }
  record.duration_seconds = options_.lease_duration.count();
  record.renew_time = now;
  return Write(record, stop);
}

LeaderElector::Outcome LeaderElector::Renew(const std::string& now, const std::stop_token& stop) {
  LeaseRecord renewed = *held_;
  renewed.renew_time = now;
  return Write(renewed, stop);
}

LeaderElector::Outcome LeaderElector::Write(const LeaseRecord& record,
                                            const std::stop_token& stop) {
  // Counted from before the write: the server may have stored it long before we hear of it.
  const auto began = clock_.Now();
  const Json lease = EncodeLease(options_.lease, record);
  const ApiResult<Json> written =
      record.resource_version.empty()
          ? client_.Create(LeaseResource(), options_.lease.name_space, lease, stop)
          : client_.Replace(LeaseResource(), options_.lease, lease, stop);
  if (!written.ok()) {
    const StatusCode code = written.error().status.code();
    if (code == StatusCode::kAborted || code == StatusCode::kAlreadyExists) return Outcome::kOthers;
    if (code != StatusCode::kCancelled) {
      LogWarning("leader", "cannot write the lease", {{"error", written.status()}});
    }
    return code == StatusCode::kNotFound ? Outcome::kOthers : Outcome::kFailed;
  }
  Result<LeaseRecord> stored = DecodeLease(*written);
  if (!stored.ok()) return Outcome::kFailed;
  held_ = std::move(*stored);
  renewed_at_ns_.store(began.count());
  return Outcome::kHeld;
}

bool LeaderElector::WriteReleased(LeaseRecord record) {
  record.holder.clear();
  record.duration_seconds = 1;  // zero is not valid
  record.renew_time = MicroTime(clock_.UnixMillis());
  const ApiResult<Json> written = client_.Replace(
      LeaseResource(), options_.lease, EncodeLease(options_.lease, record), std::stop_token());
  if (written.ok()) return true;
  if (written.error().status.code() == StatusCode::kAborted) return false;
  LogWarning("leader", "cannot release the lease; it will expire", {{"error", written.status()}});
  return true;
}

void LeaderElector::Release() {
  if (!held_ || WriteReleased(*std::exchange(held_, std::nullopt))) return;
  // A renewal that was cut short by the stop may have been stored.
  const ApiResult<Json> found = client_.Get(LeaseResource(), options_.lease, std::stop_token());
  if (!found.ok()) return;
  const Result<LeaseRecord> record = DecodeLease(*found);
  if (record.ok() && record->holder == options_.identity) WriteReleased(*record);
}

Status LeaderElector::Healthy() const {
  if (!leading_.load()) return OkStatus();
  const auto age = clock_.Now() - std::chrono::nanoseconds(renewed_at_ns_.load());
  if (age <= options_.lease_duration) return OkStatus();
  return UnavailableError("this process is the leader but has not renewed its lease in time");
}

std::vector<MetricFamily> LeaderElector::Collect() const {
  MetricFamily family = FamilyOf(metrics::kLeads);
  MetricSample sample;
  sample.labels = {{"name", options_.lease.name}};
  sample.value = IsLeader() ? 1 : 0;
  family.samples.push_back(std::move(sample));
  return {std::move(family)};
}

}  // namespace pstrain::kube
