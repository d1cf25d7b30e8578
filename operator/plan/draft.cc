#include "operator/plan/draft.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>

namespace pstrain::plan {

Draft::Draft(const Snapshot& snapshot, Time now)
    : snapshot_(&snapshot), now_(now), status_(snapshot.job.status()) {
  for (const Replica& replica : snapshot.replicas) places_[replica.id].push_back(&replica);
  for (auto& [id, attempts] : places_) {
    std::sort(attempts.begin(), attempts.end(),
              [](const Replica* a, const Replica* b) { return a->attempt < b->attempt; });
  }
}

ReplicaRestarts& Draft::Record(const ReplicaId& id) {
  return (*status_.mutable_restarts()->mutable_replicas())[ReplicaKey(id)];
}

ReplicaRestarts Draft::FindRecord(const ReplicaId& id) const {
  const auto& records = status_.restarts().replicas();
  const auto found = records.find(ReplicaKey(id));
  return found == records.end() ? ReplicaRestarts() : found->second;
}

const std::vector<const Replica*>& Draft::Attempts(const ReplicaId& id) const {
  static const std::vector<const Replica*> kNone;
  const auto found = places_.find(id);
  return found == places_.end() ? kNone : found->second;
}

bool Draft::ChiefSucceeded() const { return FindRecord({Role::kChief, 0}).succeeded(); }

void Draft::Finish(JobStatus::Phase phase, std::string_view reason, std::string message) {
  if (Finished()) return;
  status_.set_phase(phase);
  finish_reason_ = reason;
  finish_message_ = std::move(message);
}

void Draft::Start(const ReplicaId& id, std::int32_t attempt) { starts_[id] = attempt; }

void Draft::Stop(const Replica& replica, std::chrono::seconds grace) {
  if (replica.Live()) stops_.push_back({replica.id, replica.attempt, grace});
}

void Draft::Delete(const Replica& replica) { deletes_.push_back({replica.id, replica.attempt}); }

void Draft::Wake(Time time) { wake_ = wake_ ? std::min(*wake_, time) : time; }

PlanResult Draft::Take() && {
  PlanResult result;
  if (!google::protobuf::util::MessageDifferencer::Equals(status_, snapshot_->job.status())) {
    result.actions.emplace_back(SetStatus{status_});
  }
  for (const StopReplica& stop : stops_) result.actions.emplace_back(stop);
  for (const DeleteReplica& removal : deletes_) result.actions.emplace_back(removal);
  for (const auto& [id, attempt] : starts_) result.actions.emplace_back(StartReplica{id, attempt});
  if (wake_) result.actions.emplace_back(WakeAt{*wake_});
  result.status = std::move(status_);
  return result;
}

}  // namespace pstrain::plan
