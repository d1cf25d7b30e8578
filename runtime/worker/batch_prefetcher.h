#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <thread>

#include "base/mutex.h"
#include "base/status.h"
#include "runtime/input/batch_reader.h"
#include "runtime/model/model.h"
#include "runtime/stats/stats_writer.h"
#include "runtime/worker/grant_session.h"
#include "runtime/worker/ps_client.h"

namespace pstrain {

/// A granted batch, read and ready to compute.
struct PreparedBatch {
  Grant grant;
  Batch batch;
  BatchPlan plan;
  RoutedPlan routed;
};

/// Reads granted batches ahead of the step loop on a thread of its own. Owner: the worker.
class BatchPrefetcher {
 public:
  /// Batches read ahead.
  static constexpr std::size_t kDepth = 3;

  /// `busy`: takes the time that reading and planning took.
  BatchPrefetcher(GrantSession& session, std::unique_ptr<BatchReader> reader, const Model& model,
                  const PsClient& ps, SecondsCounter* busy);
  /// REQUIRES: the session has ended or is leaving (NextGrant returns nothing).
  ~BatchPrefetcher();

  /// The next batch in grant order; blocks. Nothing when the session gives no more grants; the
  /// reader's error when a batch cannot be read.
  Result<std::optional<PreparedBatch>> Next();

 private:
  void Run(const std::stop_token& stop);
  Result<PreparedBatch> Prepare(Grant grant);

  GrantSession& session_;
  const std::unique_ptr<BatchReader> reader_;
  const Model& model_;
  const PsClient& ps_;
  SecondsCounter* const busy_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<PreparedBatch> ready_ PSTRAIN_GUARDED_BY(mutex_);
  Status status_ PSTRAIN_GUARDED_BY(mutex_);
  bool done_ PSTRAIN_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

}  // namespace pstrain
