#pragma once

#include <cstddef>
#include <vector>

#include "base/metrics/collector.h"
#include "operator/controller/watcher.h"

namespace pstrain::kube {

/// A cache as its metrics see it.
struct CacheView {
  const Watcher* watcher = nullptr;
  std::size_t objects = 0;
};

/// pstrain_operator_cache_objects and pstrain_operator_watch_restarts_total, by kind. Any thread.
std::vector<MetricFamily> CollectCaches(const std::vector<CacheView>& caches);

}  // namespace pstrain::kube
