#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/metrics/collector.h"
#include "base/metrics/definition.h"
#include "base/metrics/histogram.h"
#include "base/mutex.h"
#include "operator/kube/http/transport.h"

namespace pstrain::kube {

/// What ClientMetrics says.
inline constexpr MetricDefinition kClientRequests{"rest_client_requests_total",
                                                  MetricType::kCounter, "code host method",
                                                  "Requests to the apiserver."};
inline constexpr MetricDefinition kClientDurations{
    "rest_client_request_duration_seconds", MetricType::kHistogram, "host verb",
    "Duration of requests to the apiserver, without watches."};
inline constexpr std::array kClientFamilies = {kClientRequests, kClientDurations};

/// Counts the requests to the apiserver under client-go's names: rest_client_requests_total by code
/// and method, rest_client_request_duration_seconds by verb. Owned by main; any thread.
/// Source: k8s.io/component-base, metrics/prometheus/restclient.
class ClientMetrics {
 public:
  explicit ClientMetrics(std::string host) : host_(std::move(host)) {}

  /// `http_status` 0: there was no reply ("<error>", as client-go writes it).
  void Count(HttpMethod method, int http_status) PSTRAIN_EXCLUDES(mutex_);
  /// How long a request took; not for watches, which last for minutes by design.
  void Observe(HttpMethod method, std::chrono::nanoseconds took) PSTRAIN_EXCLUDES(mutex_);

  std::vector<MetricFamily> Collect() const PSTRAIN_EXCLUDES(mutex_);

 private:
  const std::string host_;
  mutable Mutex mutex_;
  std::map<std::pair<int, HttpMethod>, std::uint64_t> requests_ PSTRAIN_GUARDED_BY(mutex_);
  std::map<HttpMethod, DurationHistogram> durations_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::kube
