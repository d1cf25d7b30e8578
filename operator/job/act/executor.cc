#include "operator/job/act/executor.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include "operator/controller/parallel.h"
#include "operator/job/build/config_map.h"
#include "operator/job/build/network_policy.h"
#include "operator/job/build/object_names.h"
#include "operator/job/build/service.h"
#include "operator/job/observe/pod_termination.h"
#include "operator/job/observe/problem/refused_create.h"
#include "operator/kube/json_fields.h"

namespace pstrain::job {
namespace {

constexpr std::chrono::seconds kFirstRetry{10};
constexpr std::chrono::seconds kLongestRetry{60};

/// Waits that grow with each refusal: a job that cannot run must not cost the apiserver much.
plan::Time NextTry(const JobState& state, plan::Time now) {
  // What is wrong with a template does not pass: another webhook or apiserver may see it otherwise.
  if (state.RefusesSpec()) return now + kLongestRetry;
  const int doublings = std::min(state.refusals, 3);
  return now + std::min(kFirstRetry * (1 << doublings), kLongestRetry);
}

void ForgetRefusal(JobState& state) {
  state.refused.reset();
  state.conflicting_objects.clear();
}

bool IsRefused(const JobState& state) {
  return state.refused || !state.conflicting_objects.empty();
}

/// Pods of the job that have not ended, by our own memory too.
bool HasLivePods(const JobState& state) {
  return std::any_of(state.pods.by_uid.begin(), state.pods.by_uid.end(),
                     [](const auto& entry) { return !ToReplica(*entry.second.view).Ended(); });
}

std::string NameOf(const Json& object) {
  return kube::TextOrEmpty(object.Find("metadata"), "name");
}

kube::ObjectKey KeyIn(const PSTrainingJob& job, std::string name) {
  return {.name_space = job.metadata().namespace_(), .name = std::move(name)};
}

}  // namespace

Executor::Executor(kube::ApiClient& client, const OwnedObjectStore& services,
                   const OwnedObjectStore& config_maps, const PodStore& pods,
                   UncountedPods& uncounted_pods, Options options, Created created)
    : client_(client),
      services_(services),
      config_maps_(config_maps),
      pods_(pods),
      uncounted_pods_(uncounted_pods),
      options_(std::move(options)),
      created_(std::move(created)),
      peer_identity_(client, config_maps, options_.require_peer_identity),
      trial_(client) {}

Status Executor::CheckUnseenPods(const kube::ObjectKey& job, JobState& state, plan::Time now,
                                 const std::stop_token& stop) {
  for (auto& [uid, pod] : state.pods.by_uid) {
    if (!pod.unseen_since || now < *pod.unseen_since + kUnseenLimit) continue;
    const auto found = client_.Get(kube::PodResource(),
                                   {.name_space = job.name_space, .name = pod.view->name}, stop);
    if (!found.ok() && found.status().code() != StatusCode::kNotFound) return found.status();
    if (found.ok() && kube::TextOrEmpty(found->Find("metadata"), "uid") == uid) {
      pod.unseen_since = now;
    } else {
      uncounted_pods_.RecordGone(state.uid, *pod.view);
    }
  }
  return OkStatus();
}

bool Executor::CacheHas(const JobState::ConflictingObject& object) const {
  if (object.kind == kube::PodResource().kind) return pods_.Get(object.key) != nullptr;
  if (object.kind == kube::ServiceResource().kind) return services_.Get(object.key) != nullptr;
  if (object.kind == kube::ConfigMapResource().kind) return config_maps_.Get(object.key) != nullptr;
  return options_.network_policies != nullptr &&
         options_.network_policies->Get(object.key) != nullptr;
}

Status Executor::RecordRefusal(const ReconcileContext& context, const kube::Resource& resource,
                               const std::string& name, const kube::ApiError& error) {
  JobState& state = context.state;
  const std::string object = resource.kind + " " + name;
  const StatusCode code = error.status.code();
  if (code == StatusCode::kAlreadyExists) {
    // The client has looked: it is not ours.
    JobState::ConflictingObject taken{.kind = resource.kind, .key = KeyIn(context.job, name)};
    taken.seen = CacheHas(taken);
    state.conflicting_objects.push_back(std::move(taken));
    return OkStatus();
  }
  if (error.MayPass() || code == StatusCode::kAborted) return error.status;
  state.refused = ProblemOfRefusedCreate(object, error);
  return OkStatus();
}

Status Executor::RecordPodRefusal(const ReconcileContext& context, const plan::StartReplica& start,
                                  const kube::ApiError& error) {
  const std::string name = PodName(context.job.metadata().name(), start.id, start.attempt);
  const Status status = RecordRefusal(context, kube::PodResource(), name, error);
  if (status.ok() && error.status.code() != StatusCode::kAlreadyExists) {
    context.state.refused = ProblemOfRefusedPod(start.id.role, name, error);
  }
  return status;
}

Result<std::vector<plan::StartReplica>> Executor::TryTemplates(
    const ReconcileContext& context, const std::vector<plan::StartReplica>& starts,
    const std::optional<JobConfig>& config) {
  if (starts.empty()) return starts;
  const std::vector<TemplateTrial::Refusal> refusals =
      trial_.Try(context, starts, *config, options_.pods);
  std::set<plan::Role> refused;
  // The condition names the first of them.
  for (const TemplateTrial::Refusal& refusal : refusals | std::views::reverse) {
    refused.insert(refusal.start.id.role);
    if (refusal.problem) {
      context.state.refused = refusal.problem;
    } else {
      PSTRAIN_RETURN_IF_ERROR(RecordPodRefusal(context, refusal.start, *refusal.error));
    }
  }
  std::vector<plan::StartReplica> usable;
  for (const plan::StartReplica& start : starts) {
    if (!refused.contains(start.id.role)) usable.push_back(start);
  }
  return usable;
}

bool Executor::HasOwnedObject(const ReconcileContext& context, const OwnedObjectStore& store,
                              const kube::ObjectKey& key, const std::string& name) const {
  auto& created = context.state.created;
  const auto cached = store.Get(key);
  const kube::OwnerReference* owner = cached ? cached->meta.Controller() : nullptr;
  if (owner != nullptr && owner->uid == context.state.uid) {
    created.erase(name);
    return true;
  }
  const auto at = created.find(name);
  return !cached && at != created.end() && context.now < at->second + kUnseenLimit;
}

bool Executor::NeedsConfigMap(const ReconcileContext& context) const {
  const auto lacks = [&](const auto& entry) {
    const PodView& pod = *entry.second.view;
    return !ToReplica(pod).Ended() && !pod.config_map.empty() &&
           !HasOwnedObject(context, config_maps_, KeyIn(context.job, pod.config_map),
                           kube::ConfigMapResource().kind + "/" + pod.config_map);
  };
  const auto& pods = context.state.pods.by_uid;
  return std::any_of(pods.begin(), pods.end(), lacks);
}

void Executor::AddMissing(const ReconcileContext& context, const kube::Resource& resource,
                          const OwnedObjectStore& store, Json object,
                          std::vector<MissingObject>& missing) const {
  const std::string name = NameOf(object);
  if (HasOwnedObject(context, store, KeyIn(context.job, name), resource.kind + "/" + name)) return;
  missing.push_back(
      {.resource = &resource, .name = name, .object = std::move(object), .error = {}});
}

Status Executor::CreateMissing(const ReconcileContext& context,
                               std::vector<MissingObject> missing) {
  kube::RunParallel(missing.size(), missing.size(), [&](std::size_t i) {
    MissingObject& one = missing[i];
    auto created = client_.Create(*one.resource, context.job.metadata().namespace_(), one.object,
                                  context.stop);
    if (!created.ok()) one.error = created.TakeError();
    return true;
  });
  Status first_error;
  for (const MissingObject& one : missing) {
    if (!one.error) {
      context.state.created[one.resource->kind + "/" + one.name] = context.now;
      continue;
    }
    const Status status = RecordRefusal(context, *one.resource, one.name, *one.error);
    if (first_error.ok()) first_error = status;
  }
  return first_error;
}

Status Executor::StartOrRefuse(const ReconcileContext& context,
                               const std::vector<plan::StartReplica>& starts,
                               const std::optional<JobConfig>& config) {
  const JobState& state = context.state;
  std::vector<MissingObject> missing;
  AddMissing(context, kube::ServiceResource(), services_, BuildService(context.job), missing);
  if (options_.network_policies != nullptr) {
    AddMissing(context, kube::NetworkPolicyResource(), *options_.network_policies,
               BuildNetworkPolicy(context.job, options_.network_policy_peers), missing);
  }
  const auto& pods = state.pods.by_uid;
  const bool named =
      config && (!starts.empty() || std::ranges::any_of(pods, [&](const auto& entry) {
        return entry.second.view->config_map == config->name;
      }));
  if (named) {
    AddMissing(context, kube::ConfigMapResource(), config_maps_, config->object, missing);
  }
  PSTRAIN_RETURN_IF_ERROR(CreateMissing(context, std::move(missing)));
  if (IsRefused(state)) return OkStatus();
  PSTRAIN_ASSIGN_OR_RETURN(const bool identified, peer_identity_.Prepare(context));
  if (IsRefused(state) || starts.empty()) return OkStatus();
  return CreatePods(context, starts, *config, identified);
}

Status Executor::Start(const ReconcileContext& context,
                       const std::vector<plan::StartReplica>& starts) {
  JobState& state = context.state;
  const std::int64_t generation = context.job.metadata().generation();
  const bool idle = starts.empty() && !HasLivePods(state);
  const bool freed = std::ranges::any_of(
      state.conflicting_objects, [this](const auto& one) { return one.seen && !CacheHas(one); });
  if (idle || plan::IsFinished(state.stored)) {
    ForgetRefusal(state);
    state.refusals = 0;
    state.accepted_generation = generation;
    return OkStatus();
  }
  const bool waits = IsRefused(state) && context.now < state.create_after;
  if (waits && !freed && generation == state.refused_generation) return OkStatus();
  ForgetRefusal(state);
  std::optional<JobConfig> config;
  if (!starts.empty() || NeedsConfigMap(context)) config = BuildJobConfig(context.job);
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<plan::StartReplica> usable,
                           TryTemplates(context, starts, config));
  // A new job is not made in part. What is wrong with one role of a running one does not keep the
  // others from being replaced.
  const std::optional<Problem> untaken = std::exchange(state.refused, std::nullopt);
  if (!untaken || HasLivePods(state)) {
    PSTRAIN_RETURN_IF_ERROR(StartOrRefuse(context, usable, config));
  }
  if (!state.refused) state.refused = untaken;
  if (!IsRefused(state)) {
    state.refusals = 0;
    state.accepted_generation = generation;
    return OkStatus();
  }
  state.create_after = NextTry(state, context.now);
  state.refused_generation = generation;
  ++state.refusals;
  return OkStatus();
}

Status Executor::CreatePods(const ReconcileContext& context,
                            const std::vector<plan::StartReplica>& starts, const JobConfig& config,
                            bool identified) {
  struct Outcome {
    std::optional<Json> pod;
    std::optional<kube::ApiError> error;
    Status template_error;
  };
  std::vector<Outcome> outcomes(starts.size());
  PodBuilderOptions options = options_.pods;
  options.identified = identified;
  const auto create = [&](std::size_t i) {
    const plan::StartReplica& start = starts[i];
    const auto pod = BuildPod(context.job, start.id, start.attempt, config, options);
    if (!pod.ok()) {
      outcomes[i].template_error = pod.status();
      return false;
    }
    auto created = client_.Create(kube::PodResource(), context.job.metadata().namespace_(), *pod,
                                  context.stop, {.strict = true});
    if (!created.ok()) {
      outcomes[i].error = created.TakeError();
      return false;
    }
    outcomes[i].pod = std::move(created).value();
    created_(context, start);
    return true;
  };
  // One that was refused before is asked about alone.
  kube::RunParallel(starts.size(), options_.parallel_calls, create,
                    context.state.refusals > 0 ? 1 : kube::kFirstBatch);
  Status first_error;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Outcome& outcome = outcomes[i];
    if (outcome.pod) {
      Result<PodView> view = DecodePod(*outcome.pod);
      if (!view.ok()) continue;
      const std::string uid = view->uid;
      context.state.pods.by_uid[uid] = {.view = std::make_shared<const PodView>(std::move(*view)),
                                        .unseen_since = context.now};
      continue;
    }
    Status status;
    if (outcome.error) {
      status = RecordPodRefusal(context, starts[i], *outcome.error);
    } else if (!outcome.template_error.ok()) {
      context.state.refused = Problem{kInvalidTemplate, outcome.template_error.message()};
    }
    if (first_error.ok()) first_error = status;
  }
  return first_error;
}

Status Executor::Delete(const ReconcileContext& context,
                        const std::map<Target, std::int64_t>& targets) {
  struct Order {
    kube::ObjectKey key;
    kube::DeleteOptions options;
    Status status;
    bool done = false;
  };
  std::vector<Order> orders;
  for (const auto& [uid, known] : context.state.pods.by_uid) {
    const PodView& pod = *known.view;
    const auto target = targets.find({pod.replica, pod.attempt});
    if (target == targets.end()) continue;
    Order order{.key = {.name_space = pod.name_space, .name = pod.name},
                .options = {.uid = pod.uid},
                .status = {}};
    if (target->second >= 0) order.options.grace_seconds = target->second;
    orders.push_back(std::move(order));
  }
  kube::RunParallel(orders.size(), options_.parallel_calls, [&](std::size_t i) {
    const auto deleted =
        client_.Delete(kube::PodResource(), orders[i].key, orders[i].options, context.stop);
    const StatusCode code = deleted.status().code();
    // Gone, or another of that name: ours is no more.
    if (code != StatusCode::kNotFound && code != StatusCode::kAborted) {
      orders[i].status = deleted.status();
    }
    orders[i].done = orders[i].status.ok();
    return orders[i].done;
  });
  Status first_error;
  for (const Order& order : orders) {
    if (order.done) {
      KnownPods& pods = context.state.pods;
      (order.options.grace_seconds == 0 ? pods.forced : pods.stopped).insert(order.options.uid);
    }
    if (first_error.ok()) first_error = order.status;
  }
  return first_error;
}

Status Executor::DeleteAllBut(const ReconcileContext& context, const kube::Resource& resource,
                              const OwnedObjectStore& store, const std::set<std::string>& keep) {
  for (const auto& object : store.ByOwner(context.state.uid)) {
    if (keep.contains(object->meta.key.name) || object->meta.deleting()) continue;
    const auto deleted =
        client_.Delete(resource, object->meta.key, {.uid = object->meta.uid}, context.stop);
    const StatusCode code = deleted.status().code();
    if (!deleted.ok() && code != StatusCode::kNotFound && code != StatusCode::kAborted) {
      return deleted.status();
    }
  }
  return OkStatus();
}

Status Executor::DeleteUnusedObjects(const ReconcileContext& context) {
  const OwnedObjectStore* policies = options_.network_policies;
  if (policies != nullptr && policies->ByOwner(context.state.uid).size() > 1) {
    const Json present = BuildNetworkPolicy(context.job, options_.network_policy_peers);
    PSTRAIN_RETURN_IF_ERROR(
        DeleteAllBut(context, kube::NetworkPolicyResource(), *policies, {NameOf(present)}));
  }
  if (config_maps_.ByOwner(context.state.uid).size() <= 1) return OkStatus();
  std::set<std::string> named = {BuildJobConfig(context.job).name};
  for (const auto& [uid, pod] : context.state.pods.by_uid) named.insert(pod.view->config_map);
  return DeleteAllBut(context, kube::ConfigMapResource(), config_maps_, named);
}

}  // namespace pstrain::job
