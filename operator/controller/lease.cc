#include "operator/controller/lease.h"

#include <ctime>
#include <string_view>
#include <utility>

#include "operator/kube/json_fields.h"

namespace pstrain::kube {

Result<LeaseRecord> DecodeLease(const Json& lease) {
  LeaseRecord record;
  if (const Json* metadata = lease.Find("metadata")) {
    PSTRAIN_RETURN_IF_ERROR(
        ReadText(*metadata, "metadata", "resourceVersion", record.resource_version));
  }
  const Json* spec = lease.Find("spec");
  if (spec == nullptr || spec->is_null()) return record;
  if (!spec->is_object()) return InvalidArgumentError("spec: must be an object");
  PSTRAIN_RETURN_IF_ERROR(ReadText(*spec, "spec", "holderIdentity", record.holder));
  PSTRAIN_RETURN_IF_ERROR(
      ReadInteger(*spec, "spec", "leaseDurationSeconds", record.duration_seconds));
  PSTRAIN_RETURN_IF_ERROR(ReadText(*spec, "spec", "acquireTime", record.acquire_time));
  PSTRAIN_RETURN_IF_ERROR(ReadText(*spec, "spec", "renewTime", record.renew_time));
  PSTRAIN_RETURN_IF_ERROR(ReadInteger(*spec, "spec", "leaseTransitions", record.transitions));
  return record;
}

Json EncodeLease(const ObjectKey& key, const LeaseRecord& record) {
  Json metadata = Json::Object();
  metadata.Set("name", Json::String(key.name));
  metadata.Set("namespace", Json::String(key.name_space));
  if (!record.resource_version.empty()) {
    metadata.Set("resourceVersion", Json::String(record.resource_version));
  }
  Json spec = Json::Object();
  spec.Set("holderIdentity", Json::String(record.holder));
  spec.Set("leaseDurationSeconds", Json::Int(record.duration_seconds));
  spec.Set("acquireTime", Json::String(record.acquire_time));
  spec.Set("renewTime", Json::String(record.renew_time));
  spec.Set("leaseTransitions", Json::Int(record.transitions));
  Json lease = Json::Object();
  lease.Set("apiVersion", Json::String(LeaseResource().ApiVersion()));
  lease.Set("kind", Json::String(LeaseResource().kind));
  lease.Set("metadata", std::move(metadata));
  lease.Set("spec", std::move(spec));
  return lease;
}

std::string MicroTime(std::int64_t unix_millis) {
  constexpr std::int64_t kMillisPerSecond = 1000;
  const auto seconds = static_cast<std::time_t>(unix_millis / kMillisPerSecond);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::string text(sizeof("2026-01-31T12:00:00"), '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts));
  std::string millis = std::to_string(kMillisPerSecond + unix_millis % kMillisPerSecond);
  return text + "." + millis.substr(1) + "000Z";
}

// As client-go's elector: expiry is counted by our own clock since the record last changed, never
// by the times in the record, which another machine's clock has written.
bool LeaseObserver::MayAcquire(const LeaseRecord& record, const std::string& identity,
                               std::chrono::nanoseconds now) {
  if (!any_seen_ || !(record == seen_)) {
    seen_ = record;
    any_seen_ = true;
    changed_at_ = now;
  }
  if (record.holder.empty() || record.holder == identity) return true;
  return now - changed_at_ >= std::chrono::seconds(record.duration_seconds);
}

}  // namespace pstrain::kube
