#include "operator/kube/client_metrics.h"

namespace pstrain::kube {

void ClientMetrics::Count(HttpMethod method, int http_status) {
  const MutexLock lock(mutex_);
  ++requests_[{http_status, method}];
}

void ClientMetrics::Observe(HttpMethod method, std::chrono::nanoseconds took) {
  const MutexLock lock(mutex_);
  durations_[method].Observe(took);
}

std::vector<MetricFamily> ClientMetrics::Collect() const {
  MetricFamily requests = FamilyOf(kClientRequests);
  MetricFamily durations = FamilyOf(kClientDurations);
  const MutexLock lock(mutex_);
  for (const auto& [key, count] : requests_) {
    const auto& [status, method] = key;
    MetricSample sample;
    sample.labels = {{"code", status == 0 ? "<error>" : std::to_string(status)},
                     {"host", host_},
                     {"method", std::string(HttpMethodName(method))}};
    sample.value = static_cast<double>(count);
    requests.samples.push_back(std::move(sample));
  }
  for (const auto& [method, histogram] : durations_) {
    durations.samples.push_back(
        histogram.Sample({{"host", host_}, {"verb", std::string(HttpMethodName(method))}}));
  }
  return {std::move(requests), std::move(durations)};
}

}  // namespace pstrain::kube
