#include "runtime/worker/batch_prefetcher.h"

#include <utility>

#include "runtime/stats/phase_timer.h"

namespace pstrain {

BatchPrefetcher::BatchPrefetcher(GrantSession& session, std::unique_ptr<BatchReader> reader,
                                 const Model& model, const PsClient& ps, SecondsCounter* busy)
    : session_(session),
      reader_(std::move(reader)),
      model_(model),
      ps_(ps),
      busy_(busy),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

BatchPrefetcher::~BatchPrefetcher() {
  thread_.request_stop();
  changed_.NotifyAll();
}

Result<std::optional<PreparedBatch>> BatchPrefetcher::Next() {
  const MutexLock lock(mutex_);
  while (ready_.empty() && !done_) changed_.Wait(mutex_);
  if (!ready_.empty()) {
    std::optional<PreparedBatch> batch(std::move(ready_.front()));
    ready_.pop_front();
    changed_.NotifyAll();
    return batch;
  }
  if (!status_.ok()) return status_;
  return std::optional<PreparedBatch>();
}

Result<PreparedBatch> BatchPrefetcher::Prepare(Grant grant) {
  PhaseTimer timer;
  const WorkId work_id{grant.work_id().epoch(), grant.work_id().batch()};
  PSTRAIN_ASSIGN_OR_RETURN(Batch batch, reader_->Read(work_id));
  BatchPlan plan = model_.Plan(batch);
  PSTRAIN_ASSIGN_OR_RETURN(RoutedPlan routed, ps_.Route(plan));
  timer.Charge(busy_);
  return PreparedBatch{std::move(grant), std::move(batch), std::move(plan), std::move(routed)};
}

void BatchPrefetcher::Run(const std::stop_token& stop) {
  Status status;
  while (!stop.stop_requested()) {
    std::optional<Grant> grant = session_.NextGrant();
    if (!grant) break;
    Result<PreparedBatch> prepared = Prepare(std::move(*grant));
    if (!prepared.ok()) {
      status = prepared.status();
      break;
    }
    const MutexLock lock(mutex_);
    while (ready_.size() >= kDepth && !stop.stop_requested()) changed_.Wait(mutex_, stop);
    if (ready_.size() >= kDepth) break;
    ready_.push_back(std::move(prepared).value());
    changed_.NotifyAll();
  }
  const MutexLock lock(mutex_);
  status_ = std::move(status);
  done_ = true;
  changed_.NotifyAll();
}

}  // namespace pstrain
