#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics/collector.h"
#include "base/status.h"
#include "operator/kube/api_client.h"
#include "operator/kube/pause.h"
#include "operator/options.h"

namespace pstrain {

/// Caches, queue, reconciler and progress poller of PSTrainingJobs, wired up. The caches fill from
/// the constructor on, also while another operator leads, so that taking over costs no relist.
/// Owned by RunOperator, whose thread (or the elector's, while it leads) calls Run and, afterwards,
/// DrainEvents. CheckSynced and Collect: any thread, also beside Run.
class JobController {
 public:
  /// None of the references is owned. `identity` is who writes the events.
  JobController(kube::ApiClient& client, kube::Pause& pause, const Clock& clock,
                const OperatorOptions& options, const std::string& identity);
  ~JobController();
  JobController(const JobController&) = delete;
  JobController& operator=(const JobController&) = delete;

  /// Reconciles until `stop`; call it while leading only. Waits for the caches first.
  void Run(const std::stop_token& stop);
  /// Writes the events that still wait, for 5 s at most, and takes no more; after Run.
  void DrainEvents();

  /// OK once every cache has its first list.
  Status CheckSynced() const;
  std::vector<MetricFamily> Collect() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace pstrain
