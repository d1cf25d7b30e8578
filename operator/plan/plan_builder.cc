#include "operator/plan/plan_builder.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <utility>

namespace pstrain::plan {

PlanBuilder::PlanBuilder(const Snapshot& snapshot, Time now)
    : snapshot_(&snapshot), now_(now), status_(snapshot.job.status()) {
  for (const Replica& replica : snapshot.replicas)
    attempts_by_replica_[replica.id].push_back(&replica);
  for (auto& [id, attempts] : attempts_by_replica_) {
    std::sort(attempts.begin(), attempts.end(),
              [](const Replica* a, const Replica* b) { return a->attempt < b->attempt; });
  }
}

ReplicaRestarts& PlanBuilder::Record(const ReplicaId& id) {
  return (*status_.mutable_restarts()->mutable_replicas())[ReplicaKey(id)];
}

ReplicaRestarts PlanBuilder::FindRecord(const ReplicaId& id) const {
  const auto& records = status_.restarts().replicas();
  const auto found = records.find(ReplicaKey(id));
  return found == records.end() ? ReplicaRestarts() : found->second;
}

const std::vector<const Replica*>& PlanBuilder::Attempts(const ReplicaId& id) const {
  static const std::vector<const Replica*> kNone;
  const auto found = attempts_by_replica_.find(id);
  return found == attempts_by_replica_.end() ? kNone : found->second;
}

void PlanBuilder::NoteEnd(CountedEnd end) {
  *Record(end.id).mutable_last_end() = end.end;
  ends_.push_back(std::move(end));
}

bool PlanBuilder::WorkDone() const {
  const auto succeeded = [this](const ReplicaId& id) { return FindRecord(id).succeeded(); };
  if (spec().success_policy() == JobSpec::Worker0) return succeeded({Role::kWorker, 0});
  if (spec().success_policy() != JobSpec::AllWorkers) return succeeded({Role::kChief, 0});
  const std::int32_t workers = DesiredReplicas(spec(), Role::kWorker);
  while (workers_done_ < workers && succeeded({Role::kWorker, workers_done_})) ++workers_done_;
  return workers > 0 && workers_done_ >= workers;
}

// The first verdict stays: policies decide in the order in which Plan calls them.
void PlanBuilder::Finish(JobStatus::Phase phase, std::string_view reason, std::string message) {
  if (Finished()) return;
  status_.set_phase(phase);
  finish_reason_ = reason;
  finish_message_ = std::move(message);
}

void PlanBuilder::Start(const ReplicaId& id, std::int32_t attempt) { starts_[id] = attempt; }

void PlanBuilder::Stop(const Replica& replica, std::chrono::seconds grace) {
  if (replica.Live()) stops_.push_back({replica.id, replica.attempt, grace});
}

void PlanBuilder::Delete(const Replica& replica) {
  if (replica.rest == Rest::kStops) return;
  const bool known = std::ranges::any_of(deletes_, [&replica](const DeleteReplica& removal) {
    return removal.id == replica.id && removal.attempt == replica.attempt;
  });
  if (!known) deletes_.push_back({replica.id, replica.attempt});
}

void PlanBuilder::Forget(const Replica& replica) {
  forgotten_.push_back({replica.id, replica.attempt});
}

void PlanBuilder::Requeue(Time time) {
  requeue_at_ = requeue_at_ ? std::min(*requeue_at_, time) : time;
}

// The status first: counts are stored before anything follows from them, so that an operator that
// is killed between the two counts nothing twice.
PlanResult PlanBuilder::Take() && {
  PlanResult result;
  if (!google::protobuf::util::MessageDifferencer::Equals(status_, snapshot_->job.status())) {
    result.actions.emplace_back(SetStatus{status_});
  }
  for (const StopReplica& stop : stops_) result.actions.emplace_back(stop);
  for (const DeleteReplica& removal : deletes_) result.actions.emplace_back(removal);
  for (const ForgetReplica& lost : forgotten_) result.actions.emplace_back(lost);
  for (const auto& [id, attempt] : starts_) result.actions.emplace_back(StartReplica{id, attempt});
  if (requeue_at_) result.actions.emplace_back(RequeueAt{*requeue_at_});
  result.ends = std::move(ends_);
  result.status = std::move(status_);
  return result;
}

}  // namespace pstrain::plan
