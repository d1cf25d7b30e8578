#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/bounded_queue.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "runtime/cluster/role_context.h"
#include "runtime/stats/role_stats.h"
#include "runtime/worker/finite_check.h"
#include "runtime/worker/given_back.h"
#include "runtime/worker/grant_session.h"
#include "runtime/worker/granted_calls.h"
#include "runtime/worker/ps_client.h"
#include "runtime/worker/work_prefetcher.h"
#include "runtime/worker/worker_step.h"

namespace pstrain {

/// Turns granted work into applied work, in three stages that run concurrently: one thread pulls
/// the values of the next work, one computes, one pushes the gradients of the last and reports. So
/// a gradient may be computed from values that lack the updates of the worker's own steps under
/// way, at most kPullAhead + 3. Owner: the worker.
///
///   stage     waits for                    hands over to
///   pull      work, a permit               compute (pulled_)
///   compute   values                       push (computed_)
///   push      gradients                    the session (report)
class StepLoop {
 public:
  /// Pieces of work whose values are pulled, or being pulled, while another is computed.
  static constexpr std::size_t kPullAhead = 1;

  /// `leave_out_non_finite`: what is not finite does not fail the job.
  StepLoop(const RoleContext& context, GrantSession& session, WorkPrefetcher& work, PsClient& ps,
           WorkerStep& step, const FiniteCheck& check, WorkerStats& stats,
           bool leave_out_non_finite);

  /// Returns when the session gives no more grants and what was begun is finished or given up. The
  /// error of work that cannot be read, of a ps that refuses a request, or of a step whose
  /// result is not finite (OUT_OF_RANGE, the chief is told that the job cannot go on). Once.
  Status Run();

 private:
  struct Step {
    ReadyWork work;
    PullOutcome pulled;
    StepOutcome outcome;
    SteadyTime begin;
    /// Its loss or a gradient is not finite, and such work is left out.
    bool left_out = false;
  };

  void PullStage();
  void ComputeStage();
  void PushStage();
  using Outcome = GrantedCalls::Ending;

  Result<Outcome> Push(Step& step, Report* report);
  /// Of a batch that was to be left out, though a shard has its gradient. OUT_OF_RANGE, and the
  /// chief is told: it was given back before.
  Result<Outcome> GiveBack(const Step& step);
  /// Leaves a step out that has computed what is not finite, or says why the job cannot go on.
  Status Judge(const std::string& what, Step& step);
  void Finish(const Step& step, Report report);
  /// Ends all stages without finishing what is under way; the first error is Run's.
  void Abandon(Status status);
  void PublishTraffic();

  GrantSession& session_;
  WorkPrefetcher& work_;
  PsClient& ps_;
  WorkerStep& step_;
  const FiniteCheck& check_;
  WorkerStats& stats_;
  const bool leave_out_non_finite_;
  RuntimeStats common_stats_;
  /// One item for each batch between the beginning of its pull and that of its computation.
  BoundedQueue<bool> permits_{kPullAhead};
  BoundedQueue<Step> pulled_{kPullAhead};
  BoundedQueue<Step> computed_{1};
  std::atomic<bool> abandoned_{false};
  const JobFields& fields_;
  GrantedCalls calls_;
  /// Of the push stage.
  GivenBack given_back_;
  Mutex mutex_;
  Status status_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
