#include "operator/job/job_reconciler.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/log.h"
#include "operator/job/act/job_events.h"
#include "operator/job/act/status_writer.h"
#include "operator/job/build/object_names.h"
#include "operator/job/observe/checkpoint_check.h"
#include "operator/job/observe/checkpoint_volume.h"
#include "operator/plan/conditions.h"
#include "operator/plan/timestamp.h"

namespace pstrain::job {
namespace {

using Wake = std::optional<plan::Time>;

/// Kubernetes' default; a pod's own is used where nothing shorter is asked for.
constexpr std::chrono::seconds kGrace{30};
constexpr std::int64_t kPodsOwnGrace = -1;
/// Between two writes of a status for nothing but new counts of replicas.
constexpr std::chrono::seconds kCountsPeriod{1};

Wake Earlier(Wake a, Wake b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace

JobReconciler::JobReconciler(World world, Actuator::Options options)
    : world_(world),
      actuator_(world.client, world.services, world.config_maps, world.pods, world.observations,
                std::move(options),
                [this](const ReconcileContext& context, const plan::StartReplica& start) {
                  if (const auto age = world_.observations.TakeLossAge(context.state.uid, start.id,
                                                                       start.attempt)) {
                    world_.metrics.ObserveReplacement(start.id.role, *age);
                  }
                  world_.events.Record(EventOfStart(context.job, start));
                }) {}

JobState& JobReconciler::StateOf(const kube::ObjectKey& key, const kube::ObjectMeta& meta) {
  MutexLock lock(mutex_);
  std::unique_ptr<JobState>& state = states_[key];
  if (!state || state->uid != meta.uid) {
    state = std::make_unique<JobState>();
    state->uid = meta.uid;
  }
  return *state;
}

void JobReconciler::Forget(const kube::ObjectKey& key) {
  MutexLock lock(mutex_);
  const auto state = states_.find(key);
  if (state == states_.end()) return;
  world_.observations.Forget(state->second->uid);
  world_.progress.Forget(state->second->uid);
  states_.erase(state);
}

Result<std::optional<std::chrono::nanoseconds>> JobReconciler::Reconcile(
    const kube::ObjectKey& key, const std::stop_token& stop) {
  const JobStore::Object cached = world_.jobs.Get(key);
  if (!cached) {
    Forget(key);
    return std::optional<std::chrono::nanoseconds>();
  }
  // What a job that is being deleted has is the garbage collector's.
  if (cached->meta.deleting()) return std::optional<std::chrono::nanoseconds>();
  JobState& state = StateOf(key, cached->meta);
  CatchUp(*cached, state);
  if (state.deleting) return std::optional<std::chrono::nanoseconds>();
  if (!cached->object.ok()) {
    PSTRAIN_RETURN_IF_ERROR(Refuse(key, cached, state, stop));
    return std::optional<std::chrono::nanoseconds>();
  }
  const plan::Time now{std::chrono::milliseconds(world_.clock.UnixMillis())};
  PSTRAIN_RETURN_IF_ERROR(actuator_.CheckUnseen(key, state, now, stop));
  const std::vector<PodStore::Object> pods = world_.pods.ByOwner(state.uid);
  const ReconcileContext context{
      .job = *cached->object, .pods = pods, .state = state, .now = now, .stop = stop};
  PSTRAIN_ASSIGN_OR_RETURN(const Wake wake, Advance(context));
  if (!wake) return std::optional<std::chrono::nanoseconds>();
  return std::optional<std::chrono::nanoseconds>(
      std::max(*wake - now, std::chrono::milliseconds(1)));
}

void JobReconciler::CatchUp(const kube::Cached<PSTrainingJob>& cached, JobState& state) {
  if (state.replaced.contains(cached.meta.resource_version)) return;
  state.replaced.clear();
  state.version = cached.meta.resource_version;
  state.deleting = false;
  if (!cached.object.ok()) return;
  state.stored = cached.object->status();
  state.stored_known = true;
}

Status JobReconciler::Refuse(const kube::ObjectKey& key, const JobStore::Object& cached,
                             JobState& state, const std::stop_token& stop) {
  if (!state.stored_known) {
    // The cache has only the reason, and the status has what must not be lost: the counts.
    PSTRAIN_RETURN_IF_ERROR(ReadAnew(world_.client, key, state, stop));
    if (state.deleting) return OkStatus();
  }
  const std::string reason = cached->object.status().message();
  JobStatus status = state.stored;
  status.set_observed_generation(cached->meta.generation);
  plan::PutCondition({.type = "Accepted",
                      .value = false,
                      .reason = "InvalidSpec",
                      .message = reason,
                      .generation = cached->meta.generation},
                     plan::Time(std::chrono::milliseconds(world_.clock.UnixMillis())), status);
  PSTRAIN_RETURN_IF_ERROR(WriteStatus(world_.client, key, status, state, stop));
  if (std::exchange(state.announced, reason) != reason) {
    PSTrainingJob job;
    job.mutable_metadata()->set_name(key.name);
    job.mutable_metadata()->set_namespace_(key.name_space);
    job.mutable_metadata()->set_uid(state.uid);
    world_.events.Record(Warning(job, "InvalidSpec", reason));
  }
  return OkStatus();
}

Result<Wake> JobReconciler::Advance(const ReconcileContext& context) {
  JobState& state = context.state;
  for (const PodStore::Object& pod : context.pods) {
    if (!pod->object.ok() || pod->object->place.role != plan::Role::kChief) continue;
    const PodView::Container& container = pod->object->container;
    if (!container.terminated || !container.finished) continue;
    if (auto reading =
            ReadingFromTermination(container.message, *container.finished, pod->object->attempt)) {
      world_.progress.Record(state.uid, std::move(*reading));
    }
  }
  if (!plan::IsFinished(state.stored))
    CheckCheckpointVolume(world_.client, context.job, context.now, context.stop, state.checkpoint);
  plan::Snapshot snapshot;
  snapshot.job = context.job;
  *snapshot.job.mutable_status() = state.stored;
  const std::vector<GonePod> gone = world_.observations.Gone(state.uid);
  snapshot.replicas = CollectReplicas(context.pods, gone, context.now, state.pods);
  snapshot.grace = kGrace;
  const plan::PlanResult plan = plan::Plan(snapshot, context.now);
  const JobStatus before = state.stored;
  PSTRAIN_ASSIGN_OR_RETURN(const Wake counts_due,
                           WriteOrDelay(context, CompleteStatus(context, plan.status)));
  if (state.deleting) return Wake();
  if (!counts_due) world_.observations.Drop(state.uid, gone);
  Announce(context, before);
  PSTRAIN_RETURN_IF_ERROR(Act(context, plan, snapshot.grace));
  // What the acts have met: a refused create shows in the status at once.
  PSTRAIN_RETURN_IF_ERROR(WriteOrDelay(context, CompleteStatus(context, state.stored)).status());
  if (state.deleting) return Wake();
  Announce(context, state.stored);
  PSTRAIN_RETURN_IF_ERROR(actuator_.CollectConfigMaps(context));
  PSTRAIN_ASSIGN_OR_RETURN(const Wake expiry, ExpireFinished(context));
  return Earlier(counts_due, Earlier(expiry, NextWake(context, plan)));
}

Result<Wake> JobReconciler::WriteOrDelay(const ReconcileContext& context, const JobStatus& status) {
  JobState& state = context.state;
  const bool lately = state.written_at && *state.written_at <= context.now &&
                      context.now < *state.written_at + kCountsPeriod;
  if (lately && OnlyCountsDiffer(state.stored, status)) {
    return Wake(*state.written_at + kCountsPeriod);
  }
  const kube::ObjectKey key{.name_space = context.job.metadata().namespace_(),
                            .name = context.job.metadata().name()};
  const std::string version = state.version;
  PSTRAIN_RETURN_IF_ERROR(WriteStatus(world_.client, key, status, state, context.stop));
  if (state.version != version) state.written_at = context.now;
  return Wake();
}

Status JobReconciler::Act(const ReconcileContext& context, const plan::PlanResult& plan,
                          std::chrono::seconds grace) {
  std::map<Actuator::Target, std::int64_t> deletions;
  std::vector<plan::StartReplica> starts;
  for (const plan::Action& action : plan.actions) {
    if (const auto* stop = std::get_if<plan::StopReplica>(&action)) {
      deletions[{stop->id, stop->attempt}] =
          stop->grace < grace ? stop->grace.count() : kPodsOwnGrace;
    } else if (const auto* removal = std::get_if<plan::DeleteReplica>(&action)) {
      deletions[{removal->id, removal->attempt}] = kPodsOwnGrace;
    } else if (const auto* start = std::get_if<plan::StartReplica>(&action)) {
      starts.push_back(*start);
    }
  }
  const Status started = actuator_.Start(context, starts);
  // What has to go goes, whether or not its successor could be made.
  const Status deleted = deletions.empty() ? OkStatus() : actuator_.Delete(context, deletions);
  return started.ok() ? deleted : started;
}

std::optional<Trouble> JobReconciler::FindTrouble(const ReconcileContext& context) const {
  if (plan::IsFinished(context.state.stored)) return std::nullopt;
  if (context.state.refused) return context.state.refused;
  for (const PodStore::Object& pod : context.pods) {
    if (!pod->object.ok()) continue;
    if (auto trouble = TroubleOf(*pod->object, context.now)) return trouble;
  }
  return std::nullopt;
}

JobStatus JobReconciler::CompleteStatus(const ReconcileContext& context, JobStatus status) const {
  const std::int64_t generation = context.job.metadata().generation();
  status.set_selector(WorkerSelector(context.job.metadata().name()));
  if (auto training = world_.progress.Status(context.state.uid, status.training())) {
    *status.mutable_training() = std::move(*training);
  }
  SetBlocked(FindTrouble(context), generation, context.now, status);
  const CheckpointCheck& checkpoint = context.state.checkpoint;
  if (checkpoint.known) {
    SetTrouble(kCheckpointNotShared, "CheckpointShared", checkpoint.trouble, generation,
               context.now, status);
  }
  const auto& conflict = context.state.name_conflict;
  if (conflict || plan::FindCondition(status, "NameConflict") != nullptr) {
    plan::PutCondition({.type = "NameConflict",
                        .value = conflict.has_value(),
                        .reason = conflict ? "NameTaken" : "NameFree",
                        .message = conflict.value_or(""),
                        .generation = generation},
                       context.now, status);
  }
  if (plan::FindCondition(status, "Accepted") != nullptr) {
    plan::PutCondition({.type = "Accepted",
                        .value = true,
                        .reason = "ValidSpec",
                        .message = "",
                        .generation = generation},
                       context.now, status);
  }
  return status;
}

void JobReconciler::Announce(const ReconcileContext& context, const JobStatus& before) {
  JobState& state = context.state;
  for (kube::Event& event : EventsOfStatus(context.job, before, state.stored)) {
    if (plan::IsFinished(state.stored)) {
      world_.metrics.CountFinished(
          context.job.metadata().namespace_(),
          state.stored.phase() == JobStatus::Succeeded ? "succeeded" : "failed", event.reason);
    }
    world_.events.Record(std::move(event));
  }
  if (auto event = EventOfCheckpoint(context.job, before, state.stored)) {
    world_.events.Record(std::move(*event));
  }
  std::string reason;
  std::string note;
  if (state.name_conflict) {
    reason = "NameConflict";
    note = *state.name_conflict;
  } else if (const auto trouble = FindTrouble(context)) {
    reason = trouble->reason;
    note = trouble->message;
  }
  if (std::exchange(state.announced, reason) != reason && !reason.empty()) {
    world_.events.Record(Warning(context.job, reason, note));
  }
}

Result<Wake> JobReconciler::ExpireFinished(const ReconcileContext& context) {
  const RunPolicy& policy = context.job.spec().run_policy();
  const JobStatus& status = context.state.stored;
  if (!policy.has_ttl_seconds_after_finished() || !plan::IsFinished(status)) return Wake();
  const auto completed = plan::ParseTimestamp(status.completion_time());
  if (!completed) return Wake();
  const plan::Time due = *completed + std::chrono::seconds(policy.ttl_seconds_after_finished());
  if (due > context.now) return Wake(due);
  const auto deleted = world_.client.Delete(
      JobResource(),
      {.name_space = context.job.metadata().namespace_(), .name = context.job.metadata().name()},
      {.uid = context.state.uid, .propagation = kube::Propagation::kBackground}, context.stop);
  const StatusCode code = deleted.status().code();
  // Gone already, and perhaps another job has the name.
  if (code == StatusCode::kNotFound || code == StatusCode::kAborted) return Wake();
  PSTRAIN_RETURN_IF_ERROR(deleted.status());
  return Wake();
}

Wake JobReconciler::NextWake(const ReconcileContext& context, const plan::PlanResult& plan) const {
  Wake wake;
  for (const plan::Action& action : plan.actions) {
    if (const auto* at = std::get_if<plan::WakeAt>(&action)) wake = at->time;
  }
  if (plan::IsFinished(context.state.stored)) return wake;
  wake = Earlier(wake, context.state.checkpoint.next_check);
  if (context.state.refused || context.state.name_conflict) {
    wake = Earlier(wake, context.state.create_after);
  }
  for (const auto& [uid, pod] : context.state.pods.by_uid) {
    wake = Earlier(wake, NextLook(*pod.view, context.now));
    if (pod.unseen_since) wake = Earlier(wake, *pod.unseen_since + kUnseenLimit);
  }
  return wake;
}

}  // namespace pstrain::job
