#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "base/mutex.h"
#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "runtime/cluster/process_end.h"
#include "runtime/stats/stats_writer.h"
#include "runtime/worker/grant_session.h"
#include "runtime/worker/ps_client.h"
#include "runtime/worker/worker_step.h"

namespace pstrain {

/// Granted work, read and ready to compute.
struct ReadyWork {
  Grant grant;
  PreparedWork prepared;
  RoutedPlan routed;
};

/// Prepares granted work ahead of the step loop on a thread of its own. Owner: the worker.
class WorkPrefetcher {
 public:
  /// Pieces of work read ahead.
  static constexpr std::size_t kDepth = 3;
  /// For what is being read when the session begins to leave.
  static constexpr std::chrono::seconds kLastRead{5};

  /// Is told of the run before the first work is prepared, and again when it has more variables. An
  /// error ends the work.
  using Declared = std::function<Status(const RunDescription& run)>;

  /// `busy`: takes the time that reading and planning took. `end`, which may be null, knows what
  /// is being read. All outlives this.
  WorkPrefetcher(GrantSession& session, WorkerStep& step, const PsClient& ps, Declared declared,
                 SecondsCounter* busy, ProcessEnd* end);
  /// REQUIRES: the session has ended or is leaving (NextGrant returns nothing).
  ~WorkPrefetcher();

  /// The next work in grant order; blocks. Nothing when the session gives no more grants, though
  /// what is being read does not come: an end of the session is not kept waiting at all, one that
  /// is leaving for kLastRead. The step's error when work cannot be prepared.
  Result<std::optional<ReadyWork>> Next();
  /// The error of WorkerStep::Prepare that has ended it. OK: none did. Any thread.
  Status step_error() const;

 private:
  void Run(const std::stop_token& stop);
  Result<ReadyWork> Prepare(Grant grant);
  Status TellOfVariables();
  /// Nothing is ready, and what is being read is waited for no longer. `leaving`: since when the
  /// session was seen to leave.
  bool GivenUp(std::optional<SteadyTime>& leaving) const;

  GrantSession& session_;
  WorkerStep& step_;
  const PsClient& ps_;
  const Declared declared_;
  std::shared_ptr<const RunDescription> run_;  // the last that was told of; of the thread
  SecondsCounter* const busy_;
  ProcessEnd* const end_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<ReadyWork> ready_ PSTRAIN_GUARDED_BY(mutex_);
  Status status_ PSTRAIN_GUARDED_BY(mutex_);
  Status step_error_ PSTRAIN_GUARDED_BY(mutex_);
  bool done_ PSTRAIN_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

}  // namespace pstrain
