#include "operator/controller/cache_metrics.h"

#include <cstdint>
#include <utility>

#include "operator/controller/metric_definitions.h"

namespace pstrain::kube {
namespace {

void Add(MetricFamily& family, std::vector<MetricLabel> labels, double value) {
  MetricSample& sample = family.samples.emplace_back();
  sample.labels = std::move(labels);
  sample.value = value;
}

}  // namespace

std::vector<MetricFamily> CollectCaches(const std::vector<CacheView>& caches) {
  MetricFamily restarts = FamilyOf(metrics::kWatchRestarts);
  MetricFamily objects = FamilyOf(metrics::kCacheObjects);
  for (const CacheView& cache : caches) {
    const std::string& kind = cache.watcher->resource().kind;
    const WatcherCounts counts = cache.watcher->counts();
    for (const auto& [reason, count] : {std::pair{"ended", counts.ended},
                                        {"expired", counts.expired},
                                        {"error", counts.failures}}) {
      Add(restarts, {{"kind", kind}, {"reason", reason}}, static_cast<double>(count));
    }
    Add(objects, {{"kind", kind}}, static_cast<double>(cache.objects));
  }
  return {std::move(restarts), std::move(objects)};
}

}  // namespace pstrain::kube
