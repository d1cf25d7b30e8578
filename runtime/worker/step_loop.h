#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "proto/coordinator.pb.h"
#include "runtime/cluster/role_context.h"
#include "runtime/data/input_index.h"
#include "runtime/model/model.h"
#include "runtime/stats/role_stats.h"
#include "runtime/worker/batch_prefetcher.h"
#include "runtime/worker/grant_session.h"
#include "runtime/worker/ps_client.h"

namespace pstrain {

/// Pull, compute, push, report, for one granted batch after the other. One thread.
class StepLoop {
 public:
  StepLoop(const RoleContext& context, GrantSession& session, BatchPrefetcher& batches,
           PsClient& ps, const Model& model, const InputIndex& index);

  /// Returns when the session gives no more grants. The error of a batch that cannot be read, or of
  /// a ps that refuses a request.
  Status Run();

 private:
  using Clock = std::chrono::steady_clock;

  /// One batch. False: given up, because the session or the grace period ended meanwhile.
  Result<bool> Step(const PreparedBatch& prepared);
  Result<bool> Pull(const PreparedBatch& prepared, Parameters* values);
  Result<bool> Push(const PreparedBatch& prepared, const Parameters& gradients, Report* report);
  /// Waits for a membership newer than `number`. False: give up.
  bool WaitForChange(std::uint64_t number);
  void PublishTraffic();

  const RoleContext& context_;
  GrantSession& session_;
  BatchPrefetcher& batches_;
  PsClient& ps_;
  const Model& model_;
  const InputIndex& index_;
  WorkerStats stats_;
  RuntimeStats common_stats_;
};

}  // namespace pstrain
