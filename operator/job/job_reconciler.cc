#include "operator/job/job_reconciler.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "operator/job/act/job_events.h"
#include "operator/job/act/name_conflict.h"
#include "operator/job/act/ps_count_writer.h"
#include "operator/job/act/status_summary.h"
#include "operator/job/act/status_writer.h"
#include "operator/job/build/object_names.h"
#include "operator/job/observe/checkpoint_check.h"
#include "operator/job/observe/checkpoint_progress.h"
#include "operator/job/observe/checkpoint_volume.h"
#include "operator/job/observe/problem/refused_create.h"
#include "operator/plan/conditions.h"
#include "operator/plan/timestamp.h"
#include "proto/contract/replica_specs.h"

namespace pstrain::job {
namespace {

using RequeueTime = std::optional<plan::Time>;

/// Kubernetes' default; a pod's own is used where nothing shorter is asked for.
constexpr std::chrono::seconds kGrace{30};
constexpr std::int64_t kPodsOwnGrace = -1;

RequeueTime Earlier(RequeueTime a, RequeueTime b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace

JobReconciler::JobReconciler(Dependencies dependencies, Executor::Options options,
                             StatusPace::Options pace)
    : deps_(dependencies),
      executor_(dependencies.client, dependencies.services, dependencies.config_maps,
                dependencies.pods, dependencies.uncounted_pods, std::move(options),
                [this](const ReconcileContext& context, const plan::StartReplica& start) {
                  if (const auto age = deps_.uncounted_pods.TakeTimeSinceLoss(
                          context.state.uid, start.id, start.attempt)) {
                    deps_.metrics.ObserveReplacement(start.id.role, *age);
                  }
                  deps_.events.Record(EventOfStart(context.job, start));
                }),
      pace_(pace) {}

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
  deps_.uncounted_pods.Forget(state->second->uid);
  deps_.progress.Forget(state->second->uid);
  deps_.metrics.Forget(state->second->uid);
  states_.erase(state);
}

Result<kube::RequeueAfter> JobReconciler::Reconcile(const kube::ObjectKey& key,
                                                    const std::stop_token& stop) {
  const JobStore::Object cached = deps_.jobs.Get(key);
  if (!cached) {
    Forget(key);
    return kube::RequeueAfter();
  }
  // Its objects are left to the garbage collector, or to whoever acts on it.
  if (cached->meta.deleting() || BelongsToAnother(*cached)) return kube::RequeueAfter();
  JobState& state = StateOf(key, cached->meta);
  UpdateFromCache(*cached, state);
  if (state.deleting) return kube::RequeueAfter();
  if (!cached->object.ok()) {
    PSTRAIN_RETURN_IF_ERROR(ReportInvalidSpec(key, cached, state, stop));
    return kube::RequeueAfter();
  }
  const plan::Time now{std::chrono::milliseconds(deps_.clock.UnixMillis())};
  PSTRAIN_RETURN_IF_ERROR(executor_.CheckUnseenPods(key, state, now, stop));
  const std::vector<PodStore::Object> pods = deps_.pods.ByOwner(state.uid);
  const ReconcileContext context{
      .job = *cached->object, .pods = pods, .state = state, .now = now, .stop = stop};
  PSTRAIN_ASSIGN_OR_RETURN(const RequeueTime requeue, ReconcileValid(context));
  if (!requeue) return kube::RequeueAfter();
  return kube::RequeueAfter(std::max(*requeue - now, std::chrono::milliseconds(1)));
}

void JobReconciler::UpdateFromCache(const kube::Cached<PSTrainingJob>& cached, JobState& state) {
  if (state.superseded_versions.contains(cached.meta.resource_version)) return;
  state.superseded_versions.clear();
  state.version = cached.meta.resource_version;
  state.deleting = false;
  if (!cached.object.ok()) return;
  state.stored = cached.object->status();
  state.stored_known = true;
}

Status JobReconciler::ReportInvalidSpec(const kube::ObjectKey& key, const JobStore::Object& cached,
                                        JobState& state, const std::stop_token& stop) {
  if (!state.stored_known) {
    // The cache has only the reason, and the status has what must not be lost: the counts.
    PSTRAIN_RETURN_IF_ERROR(RefreshState(deps_.client, key, state, stop));
    if (state.deleting) return OkStatus();
  }
  const std::string reason = cached->object.status().message();
  JobStatus status = state.stored;
  status.set_observed_generation(cached->meta.generation);
  SetInvalidSpec(reason, cached->meta.generation,
                 plan::Time(std::chrono::milliseconds(deps_.clock.UnixMillis())), status);
  PSTRAIN_RETURN_IF_ERROR(WriteStatus(deps_.client, key, status, state, stop));
  if (std::exchange(state.reported_problem, reason) != reason) {
    PSTrainingJob job;
    job.mutable_metadata()->set_name(key.name);
    job.mutable_metadata()->set_namespace_(key.name_space);
    job.mutable_metadata()->set_uid(state.uid);
    deps_.events.Record(Warning(job, "InvalidSpec", reason));
  }
  return OkStatus();
}

plan::Snapshot JobReconciler::Observe(const ReconcileContext& context,
                                      const std::vector<UncountedPod>& gone) {
  JobState& state = context.state;
  plan::Snapshot snapshot;
  snapshot.job = context.job;
  *snapshot.job.mutable_status() = state.stored;
  snapshot.replicas = CollectReplicas(context.pods, gone, context.now, state.pods);
  if (!plan::IsFinished(state.stored)) {
    CheckNodes(deps_.client, state.pods, context.now, context.stop, state.nodes);
  }
  for (plan::Replica& replica : snapshot.replicas) {
    // A pod that went away before its agent's last word could be read.
    const bool unknown = replica.id.role == plan::Role::kChief &&
                         replica.phase == plan::ReplicaPhase::kSucceeded && !replica.counts;
    if (unknown) replica.counts = deps_.progress.ProvenCounts(state.uid, replica.attempt);
    const auto node = state.nodes.find(replica.node);
    replica.node_lost = node != state.nodes.end() && node->second.lost;
  }
  snapshot.grace = kGrace;
  return snapshot;
}

Result<RequeueTime> JobReconciler::ReconcileValid(const ReconcileContext& context) {
  JobState& state = context.state;
  for (const PodStore::Object& pod : context.pods) {
    if (!pod->object.ok() || pod->object->replica.role != plan::Role::kChief) continue;
    const PodView::Container& container = pod->object->container;
    if (!container.terminated || !container.finished) continue;
    if (auto reading =
            ReadingFromTermination(container.message, *container.finished, pod->object->attempt)) {
      deps_.progress.Record(state.uid, std::move(*reading));
    }
  }
  if (!plan::IsFinished(state.stored)) {
    CheckCheckpointVolume(deps_.client, context.job, context.now, context.stop, state.checkpoint);
  }
  const std::vector<UncountedPod> gone = deps_.uncounted_pods.List(state.uid);
  const plan::Snapshot snapshot = Observe(context, gone);
  const plan::PlanResult plan = plan::Plan(snapshot, context.now);
  RequeueTime counts_due;
  // What is counted is stored before anything is done about it. Of a new job nothing is: its first
  // status can have what becomes of its first pods.
  const bool nothing_counted = state.stored.phase() == JobStatus::PHASE_UNSPECIFIED &&
                               plan.ends.empty() && gone.empty() && !plan::IsFinished(plan.status);
  if (!nothing_counted) {
    PSTRAIN_ASSIGN_OR_RETURN(counts_due, StoreCounts(context, plan, gone));
    if (state.deleting) return RequeueTime();
  }
  const Status executed = Execute(context, plan, snapshot.grace);
  if (!executed.ok() && !nothing_counted) return executed;
  // What was refused or found out just now shows in the status immediately.
  const JobStatus before = state.stored;
  const JobStatus& base = nothing_counted ? plan.status : before;
  const JobStatus status = CompleteStatus(context, base);
  PSTRAIN_RETURN_IF_ERROR(WriteOrDelay(context, status).status());
  if (state.deleting) return RequeueTime();
  ObserveTimes(context, status);
  EmitEvents(context, before);
  PSTRAIN_RETURN_IF_ERROR(executed);
  PSTRAIN_RETURN_IF_ERROR(executor_.DeleteUnusedObjects(context));
  PSTRAIN_ASSIGN_OR_RETURN(const RequeueTime expiry, DeleteExpired(context));
  return Earlier(counts_due, Earlier(expiry, NextRequeue(context, plan)));
}

Result<RequeueTime> JobReconciler::StoreCounts(const ReconcileContext& context,
                                               const plan::PlanResult& plan,
                                               const std::vector<UncountedPod>& gone) {
  JobState& state = context.state;
  const JobStatus before = state.stored;
  PSTRAIN_ASSIGN_OR_RETURN(const RequeueTime due,
                           WriteOrDelay(context, CompleteStatus(context, plan.status)));
  if (state.deleting) return due;
  if (!due) deps_.uncounted_pods.MarkCounted(state.uid, gone);
  for (const plan::CountedEnd& counted : plan.ends) {
    if (!due) deps_.metrics.CountRestart(state.uid, counted.id.role, counted.cause);
    deps_.events.Record(EventOfEnd(context.job, counted));
  }
  EmitEvents(context, before);
  return due;
}

void JobReconciler::ObserveTimes(const ReconcileContext& context, const JobStatus& status) {
  for (const StartTimes::Reached& reached :
       context.state.start_times.Observe(status, context.now)) {
    deps_.metrics.ObserveStart(reached.stage, reached.took);
  }
  if (status.phase() == JobStatus::Suspended) {
    deps_.uncounted_pods.ForgetLosses(context.state.uid);
  }
  for (const UncountedPods::Ready& ready : deps_.uncounted_pods.TakeReady(context.state.uid)) {
    deps_.metrics.ObserveReady(ready.role, ready.took);
  }
}

Result<RequeueTime> JobReconciler::WriteOrDelay(const ReconcileContext& context,
                                                const JobStatus& status) {
  JobState& state = context.state;
  if (const auto due = pace_.Due(status, context.now, state)) return RequeueTime(due);
  const kube::ObjectKey key{.name_space = context.job.metadata().namespace_(),
                            .name = context.job.metadata().name()};
  const std::string version = state.version;
  const JobStatus before = state.stored;
  PSTRAIN_RETURN_IF_ERROR(WriteStatus(deps_.client, key, status, state, context.stop));
  if (state.version != version) StatusPace::Written(before, context.now, state);
  return RequeueTime();
}

Status JobReconciler::Execute(const ReconcileContext& context, const plan::PlanResult& plan,
                              std::chrono::seconds grace) {
  std::map<Executor::Target, std::int64_t> deletions;
  std::vector<plan::StartReplica> starts;
  for (const plan::Action& action : plan.actions) {
    if (const auto* stop = std::get_if<plan::StopReplica>(&action)) {
      deletions[{stop->id, stop->attempt}] =
          stop->grace < grace ? stop->grace.count() : kPodsOwnGrace;
    } else if (const auto* removal = std::get_if<plan::DeleteReplica>(&action)) {
      deletions[{removal->id, removal->attempt}] = kPodsOwnGrace;
    } else if (const auto* lost = std::get_if<plan::ForgetReplica>(&action)) {
      deletions[{lost->id, lost->attempt}] = 0;
    } else if (const auto* start = std::get_if<plan::StartReplica>(&action)) {
      starts.push_back(*start);
    }
  }
  // The chief first: it makes room for new ps, and empties those that are about to be deleted.
  Status told = TellChief(context);
  const Status started = executor_.Start(context, starts);
  // Deletions do not wait for creates that fail.
  const Status deleted = deletions.empty() ? OkStatus() : executor_.Delete(context, deletions);
  if (!told.ok()) return told;
  return started.ok() ? deleted : started;
}

Status JobReconciler::TellChief(const ReconcileContext& context) {
  if (plan::IsFinished(context.state.stored)) return OkStatus();
  PSTRAIN_ASSIGN_OR_RETURN(const bool changed, WritePsCount(deps_.client, context));
  if (changed) deps_.events.Record(EventOfPsCount(context.job));
  return OkStatus();
}

std::optional<Problem> JobReconciler::FindProblem(const ReconcileContext& context) const {
  if (plan::IsFinished(context.state.stored)) return std::nullopt;
  if (context.state.refused && !context.state.RefusesSpec()) return context.state.refused;
  return FirstProblemOf(context.pods, context.now);
}

JobStatus JobReconciler::CompleteStatus(const ReconcileContext& context, JobStatus status) const {
  const std::int64_t generation = context.job.metadata().generation();
  status.set_selector(WorkerSelector(context.job.metadata().name()));
  if (auto training = deps_.progress.Status(context.state.uid, status.training())) {
    *status.mutable_training() = std::move(*training);
  }
  SetBlockedCondition(FindProblem(context), generation, context.now, status);
  const CheckpointCheck& checkpoint = context.state.checkpoint;
  if (checkpoint.known) {
    SetProblemCondition(kCheckpointNotShared, "CheckpointShared", checkpoint.problem, generation,
                        context.now, status);
  }
  if (deps_.progress.Heard(context.state.uid)) {
    SetProblemCondition(kCheckpointsFailing, "CheckpointsWritten",
                        deps_.progress.CheckpointsFailing(context.state.uid), generation,
                        context.now, status);
  }
  if (!plan::IsFinished(status)) {
    const PeerIdentity& identity = executor_.peer_identity();
    SetProblemCondition(kPeersNotVerified, "PeersVerified", identity.ProblemOf(context), generation,
                        context.now, status);
    SetProblemCondition(kIssuerKeysStale, "KeysRead", identity.StaleKeysOf(context), generation,
                        context.now, status);
  }
  const std::optional<std::string> conflict = NameConflictOf(context.state.conflicting_objects);
  if (conflict || plan::FindCondition(status, "NameConflict") != nullptr) {
    plan::PutCondition({.type = "NameConflict",
                        .value = conflict.has_value(),
                        .reason = conflict ? "NameTaken" : "NameFree",
                        .message = conflict.value_or(""),
                        .generation = generation},
                       context.now, status);
  }
  SetAcceptedCondition(context, status);
  Summarize(UsesRuntime(context.job.spec()), generation, context.now, status);
  return status;
}

void JobReconciler::SetAcceptedCondition(const ReconcileContext& context, JobStatus& status) {
  const JobState& state = context.state;
  const std::int64_t generation = context.job.metadata().generation();
  const Condition* known = plan::FindCondition(status, kAccepted);
  const bool refused = state.RefusesSpec() && !plan::IsFinished(status);
  if (known == nullptr && !refused) return;
  // Another process of the operator has found it out, and this one has not asked yet.
  const bool still_refused =
      known != nullptr && known->status() == "False" && known->reason() == kInvalidTemplate &&
      known->observed_generation() == generation && state.accepted_generation != generation;
  if (still_refused && !refused) return;
  plan::PutCondition(
      {.type = kAccepted,
       .value = !refused,
       .reason = refused ? std::string_view(state.refused->reason) : std::string_view("ValidSpec"),
       .message = refused ? std::string_view(state.refused->message) : std::string_view(),
       .generation = generation},
      context.now, status);
}

void JobReconciler::EmitEvents(const ReconcileContext& context, const JobStatus& before) {
  JobState& state = context.state;
  for (kube::Event& event : EventsOfStatus(context.job, before, state.stored)) {
    if (plan::IsFinished(state.stored)) {
      deps_.metrics.CountFinished(
          context.job.metadata().namespace_(),
          state.stored.phase() == JobStatus::Succeeded ? "succeeded" : "failed", event.reason);
    }
    deps_.events.Record(std::move(event));
  }
  for (kube::Event& event : EventsOfProblems(context.job, before, state.stored)) {
    deps_.events.Record(std::move(event));
  }
  std::string reason;
  std::string note;
  if (const auto conflict = NameConflictOf(state.conflicting_objects)) {
    reason = "NameConflict";
    note = *conflict;
  } else if (const auto problem = FindProblem(context)) {
    reason = problem->reason;
    note = problem->message;
  }
  if (std::exchange(state.reported_problem, reason) != reason && !reason.empty()) {
    deps_.events.Record(Warning(context.job, reason, note));
  }
}

Result<RequeueTime> JobReconciler::DeleteExpired(const ReconcileContext& context) {
  const RunPolicy& policy = context.job.spec().run_policy();
  const JobStatus& status = context.state.stored;
  if (!policy.has_ttl_seconds_after_finished() || !plan::IsFinished(status)) return RequeueTime();
  const auto completed = plan::ParseTimestamp(status.completion_time());
  if (!completed) return RequeueTime();
  const plan::Time due = *completed + std::chrono::seconds(policy.ttl_seconds_after_finished());
  if (due > context.now) return RequeueTime(due);
  const auto deleted = deps_.client.Delete(
      JobResource(),
      {.name_space = context.job.metadata().namespace_(), .name = context.job.metadata().name()},
      {.uid = context.state.uid, .propagation = kube::Propagation::kBackground}, context.stop);
  const StatusCode code = deleted.status().code();
  // Gone already, and perhaps another job has the name.
  if (code == StatusCode::kNotFound || code == StatusCode::kAborted) return RequeueTime();
  PSTRAIN_RETURN_IF_ERROR(deleted.status());
  return RequeueTime();
}

RequeueTime JobReconciler::NextRequeue(const ReconcileContext& context,
                                       const plan::PlanResult& plan) const {
  RequeueTime requeue;
  for (const plan::Action& action : plan.actions) {
    if (const auto* at = std::get_if<plan::RequeueAt>(&action)) requeue = at->time;
  }
  if (plan::IsFinished(context.state.stored)) return requeue;
  requeue = Earlier(requeue, context.state.checkpoint.next_check);
  requeue = Earlier(requeue, NextNodeCheck(context.state.pods, context.now, context.state.nodes));
  requeue = Earlier(requeue, executor_.peer_identity().NextCheck(context));
  if (context.state.refused || !context.state.conflicting_objects.empty()) {
    requeue = Earlier(requeue, context.state.create_after);
  }
  for (const auto& [uid, pod] : context.state.pods.by_uid) {
    requeue = Earlier(requeue, NextProblemCheck(*pod.view, context.now));
    if (pod.unseen_since) requeue = Earlier(requeue, *pod.unseen_since + kUnseenLimit);
  }
  return requeue;
}

}  // namespace pstrain::job
