#include "operator/controller/cache_metrics.h"

#include <cstdint>
#include <utility>

#include "operator/controller/metric_definitions.h"

namespace pstrain::kube {
std::vector<MetricFamily> CollectCaches(const std::vector<CacheView>& caches) {
  MetricFamily restarts = FamilyOf(metrics::kWatchRestarts);
  MetricFamily objects = FamilyOf(metrics::kCacheObjects);
  for (const CacheView& cache : caches) {
    const std::string& kind = cache.watcher->resource().kind;
    const WatcherCounts counts = cache.watcher->counts();
    for (const auto& [reason, count] : {std::pair{"ended", counts.ended},
                                        {"expired", counts.expired},
                                        {"error", counts.failures}}) {
      AddSample(restarts, {{"kind", kind}, {"reason", reason}}, static_cast<double>(count));
    }
    AddSample(objects, {{"kind", kind}}, static_cast<double>(cache.objects));
  }
  return {std::move(restarts), std::move(objects)};
}

}  // namespace pstrain::kube
