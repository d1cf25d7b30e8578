#include "operator/job/act/executor.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "operator/controller/parallel.h"
#include "operator/job/build/config_map.h"
#include "operator/job/build/object_names.h"
#include "operator/job/build/service.h"
#include "operator/job/observe/pod_termination.h"
#include "operator/kube/json_fields.h"

namespace pstrain::job {
namespace {

constexpr std::chrono::seconds kFirstRetry{10};
constexpr std::chrono::seconds kLongestRetry{60};

/// Waits that grow with each refusal: a job that cannot run must not cost the apiserver much.
plan::Time NextTry(const JobState& state, plan::Time now) {
  const int doublings = std::min(state.refusals, 3);
  return now + std::min(kFirstRetry * (1 << doublings), kLongestRetry);
}

void ForgetRefusal(JobState& state) {
  state.refused.reset();
  state.name_conflict.reset();
  state.taken.reset();
}

bool IsRefused(const JobState& state) { return state.refused || state.name_conflict; }

/// Pods of the job that have not ended, by our own memory too.
bool HasLivePods(const JobState& state) {
  return std::any_of(state.pods.by_uid.begin(), state.pods.by_uid.end(),
                     [](const auto& entry) { return !ToReplica(*entry.second.view).Ended(); });
}

kube::ObjectKey KeyIn(const PSTrainingJob& job, std::string name) {
  return {.name_space = job.metadata().namespace_(), .name = std::move(name)};
}

}  // namespace

Actuator::Actuator(kube::ApiClient& client, const ChildStore& services,
                   const ChildStore& config_maps, const PodStore& pods, Observations& observations,
                   Options options, Created created)
    : client_(client),
      services_(services),
      config_maps_(config_maps),
      pods_(pods),
      observations_(observations),
      options_(std::move(options)),
      created_(std::move(created)) {}

Status Actuator::CheckUnseen(const kube::ObjectKey& job, JobState& state, plan::Time now,
                             const std::stop_token& stop) {
  for (auto& [uid, pod] : state.pods.by_uid) {
    if (!pod.unseen_since || now < *pod.unseen_since + kUnseenLimit) continue;
    const auto found = client_.Get(kube::PodResource(),
                                   {.name_space = job.name_space, .name = pod.view->name}, stop);
    if (!found.ok() && found.status().code() != StatusCode::kNotFound) return found.status();
    if (found.ok() && kube::TextOrEmpty(found->Find("metadata"), "uid") == uid) {
      pod.unseen_since = now;
    } else {
      observations_.PodIsGone(state.uid, *pod.view);
    }
  }
  return OkStatus();
}

bool Actuator::Shows(const JobState::Taken& object) const {
  if (object.kind == kube::PodResource().kind) return pods_.Get(object.key) != nullptr;
  const bool service = object.kind == kube::ServiceResource().kind;
  return (service ? services_ : config_maps_).Get(object.key) != nullptr;
}

Status Actuator::Refused(const ReconcileContext& context, const kube::Resource& resource,
                         const std::string& name, const kube::ApiError& error) {
  JobState& state = context.state;
  const std::string object = resource.kind + " " + name;
  const StatusCode code = error.status.code();
  if (code == StatusCode::kAlreadyExists) {
    // The client has looked: it is not ours.
    state.name_conflict =
        object + " exists and belongs to another; delete it or give the job another name";
    const JobState::Taken taken{.kind = resource.kind, .key = KeyIn(context.job, name)};
    if (Shows(taken)) state.taken = taken;
    return OkStatus();
  }
  const bool passes = error.http_status == 0 || error.IsTransient();
  if (passes || code == StatusCode::kAborted) return error.status;
  state.refused =
      TroubleOfCreate(object, error.message.empty() ? error.status.message() : error.message,
                      code == StatusCode::kPermissionDenied, code == StatusCode::kInvalidArgument);
  return OkStatus();
}

bool Actuator::HasChild(const ReconcileContext& context, const ChildStore& store,
                        const kube::ObjectKey& key, const std::string& name) const {
  auto& made = context.state.made;
  const auto cached = store.Get(key);
  const kube::OwnerReference* owner = cached ? cached->meta.Controller() : nullptr;
  if (owner != nullptr && owner->uid == context.state.uid) {
    made.erase(name);
    return true;
  }
  const auto at = made.find(name);
  return !cached && at != made.end() && context.now < at->second + kUnseenLimit;
}

Status Actuator::CreateChild(const ReconcileContext& context, const kube::Resource& resource,
                             const Json& object) {
  const std::string name = kube::TextOrEmpty(object.Find("metadata"), "name");
  const auto created =
      client_.Create(resource, context.job.metadata().namespace_(), object, context.stop);
  if (!created.ok()) return Refused(context, resource, name, created.error());
  context.state.made[resource.kind + "/" + name] = context.now;
  return OkStatus();
}

Status Actuator::EnsureService(const ReconcileContext& context) {
  const kube::Resource& resource = kube::ServiceResource();
  const std::string& name = context.job.metadata().name();
  if (HasChild(context, services_, KeyIn(context.job, name), resource.kind + "/" + name)) {
    return OkStatus();
  }
  return CreateChild(context, resource, BuildService(context.job));
}

Result<std::string> Actuator::EnsureConfigMap(const ReconcileContext& context, bool starts) {
  const kube::Resource& resource = kube::ConfigMapResource();
  const auto has = [&](const std::string& name) {
    return HasChild(context, config_maps_, KeyIn(context.job, name), resource.kind + "/" + name);
  };
  const auto lacks = [&](const auto& entry) {
    const PodView& pod = *entry.second.view;
    return !ToReplica(pod).Ended() && !pod.config_map.empty() && !has(pod.config_map);
  };
  const auto& pods = context.state.pods.by_uid;
  if (!starts && std::none_of(pods.begin(), pods.end(), lacks)) return std::string();
  const Json config_map = BuildConfigMap(context.job);
  std::string name = kube::TextOrEmpty(config_map.Find("metadata"), "name");
  const bool named = starts || std::any_of(pods.begin(), pods.end(), [&](const auto& entry) {
                       return entry.second.view->config_map == name;
                     });
  if (named && !has(name)) PSTRAIN_RETURN_IF_ERROR(CreateChild(context, resource, config_map));
  return name;
}

Status Actuator::Start(const ReconcileContext& context,
                       const std::vector<plan::StartReplica>& starts) {
  JobState& state = context.state;
  const std::int64_t generation = context.job.metadata().generation();
  const bool idle = starts.empty() && !HasLivePods(state);
  const bool freed = state.taken && !Shows(*state.taken);
  if (idle || plan::IsFinished(state.stored)) {
    ForgetRefusal(state);
    state.refusals = 0;
    return OkStatus();
  }
  const bool waits = IsRefused(state) && context.now < state.create_after;
  if (waits && !freed && generation == state.refused_generation) return OkStatus();
  ForgetRefusal(state);
  PSTRAIN_RETURN_IF_ERROR(EnsureService(context));
  if (!IsRefused(state)) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::string config_map,
                             EnsureConfigMap(context, !starts.empty()));
    if (!IsRefused(state)) PSTRAIN_RETURN_IF_ERROR(CreatePods(context, starts, config_map));
  }
  if (!IsRefused(state)) {
    state.refusals = 0;
    return OkStatus();
  }
  state.create_after = NextTry(state, context.now);
  state.refused_generation = generation;
  ++state.refusals;
  return OkStatus();
}

Status Actuator::CreatePods(const ReconcileContext& context,
                            const std::vector<plan::StartReplica>& starts,
                            const std::string& config_map) {
  struct Outcome {
    std::optional<Json> pod;
    std::optional<kube::ApiError> error;
    Status template_error;
  };
  std::vector<Outcome> outcomes(starts.size());
  kube::RunParallel(starts.size(), options_.parallel_calls, [&](std::size_t i) {
    const plan::StartReplica& start = starts[i];
    const auto pod = BuildPod(context.job, start.id, start.attempt, config_map, options_.pods);
    if (!pod.ok()) {
      outcomes[i].template_error = pod.status();
      return false;
    }
    auto created = client_.Create(kube::PodResource(), context.job.metadata().namespace_(), *pod,
                                  context.stop);
    if (!created.ok()) {
      outcomes[i].error = created.TakeError();
      return false;
    }
    outcomes[i].pod = std::move(created).value();
    created_(context, start);
    return true;
  });
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
      const plan::StartReplica& start = starts[i];
      status =
          Refused(context, kube::PodResource(),
                  PodName(context.job.metadata().name(), start.id, start.attempt), *outcome.error);
    } else if (!outcome.template_error.ok()) {
      context.state.refused = Trouble{"InvalidTemplate", outcome.template_error.message()};
    }
    if (first_error.ok()) first_error = status;
  }
  return first_error;
}

Status Actuator::Delete(const ReconcileContext& context,
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
    const auto target = targets.find({pod.place, pod.attempt});
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
    if (order.done) context.state.pods.stopped.insert(order.options.uid);
    if (first_error.ok()) first_error = order.status;
  }
  return first_error;
}

Status Actuator::CollectConfigMaps(const ReconcileContext& context) {
  std::set<std::string> named;
  for (const auto& [uid, pod] : context.state.pods.by_uid) named.insert(pod.view->config_map);
  const auto owned = config_maps_.ByOwner(context.state.uid);
  if (owned.size() <= 1) return OkStatus();
  named.insert(kube::TextOrEmpty(BuildConfigMap(context.job).Find("metadata"), "name"));
  for (const auto& config_map : owned) {
    if (named.contains(config_map->meta.key.name) || config_map->meta.deleting()) continue;
    const auto deleted = client_.Delete(kube::ConfigMapResource(), config_map->meta.key,
                                        {.uid = config_map->meta.uid}, context.stop);
    const StatusCode code = deleted.status().code();
    if (!deleted.ok() && code != StatusCode::kNotFound && code != StatusCode::kAborted) {
      return deleted.status();
    }
  }
  return OkStatus();
}

}  // namespace pstrain::job
