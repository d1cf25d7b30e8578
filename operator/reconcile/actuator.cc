#include "operator/reconcile/actuator.h"

#include <algorithm>
#include <optional>
#include <set>

#include "operator/reconcile/children.h"
#include "operator/reconcile/json_text.h"
#include "operator/reconcile/parallel.h"

namespace pstrain::reconcile {
namespace {

constexpr std::string_view kNameConflict = "NameConflict";
constexpr std::chrono::seconds kFirstRetry{10};
constexpr std::chrono::seconds kLongestRetry{60};

kube::ObjectKey KeyOf(const PSTrainingJob& job, const Json& object) {
  return {.name_space = job.metadata().namespace_(),
          .name = TextOf(object.Find("metadata"), "name")};
}

std::string Describe(const kube::Resource& resource, const std::string& name) {
  return resource.kind + " " + name;
}

/// Waits that grow with each refusal: a job that cannot run must not cost the apiserver much.
plan::Time NextTry(const JobState& state, plan::Time now) {
  const int doublings = std::min(state.refusals, 3);
  return now + std::min(kFirstRetry * (1 << doublings), kLongestRetry);
}

}  // namespace

Actuator::Actuator(kube::ApiClient& client, const ChildStore& services,
                   const ChildStore& config_maps, const Observations& observations, Options options,
                   Created created)
    : client_(client),
      services_(services),
      config_maps_(config_maps),
      observations_(observations),
      options_(std::move(options)),
      created_(std::move(created)) {}

kube::ApiResult<Json> Actuator::CreateOwned(const JobInHand& hand, const kube::Resource& resource,
                                            const Json& object) {
  const kube::ObjectKey key = KeyOf(hand.job, object);
  auto created = client_.Create(resource, key.name_space, object, hand.stop);
  if (created.ok() || created.status().code() != StatusCode::kAlreadyExists) return created;
  auto found = client_.Get(resource, key, hand.stop);
  if (!found.ok()) return found;
  const auto meta = kube::DecodeObjectMeta(*found);
  const kube::OwnerReference* owner = meta.ok() ? meta->Controller() : nullptr;
  if (owner != nullptr && owner->uid == hand.state.uid) return found;
  kube::ApiError error = created.error();
  error.reason = kNameConflict;
  error.message = Describe(resource, key.name) +
                  " exists and belongs to another; delete it or give the job another name";
  return error;
}

Status Actuator::Refused(const JobInHand& hand, const std::string& object,
                         const kube::ApiError& error) {
  JobState& state = hand.state;
  const bool forbidden = error.status.code() == StatusCode::kPermissionDenied;
  const bool invalid = error.status.code() == StatusCode::kInvalidArgument;
  if (error.reason == kNameConflict) {
    state.name_conflict = error.message;
  } else if (forbidden || invalid) {
    state.refused = TroubleOfCreate(object, error.message, forbidden, invalid);
  } else {
    return error.status;
  }
  state.create_after = NextTry(state, hand.now);
  ++state.refusals;
  return OkStatus();
}

Status Actuator::EnsureChild(const JobInHand& hand, const kube::Resource& resource,
                             const ChildStore& store, const Json& object) {
  const kube::ObjectKey key = KeyOf(hand.job, object);
  const std::string name = Describe(resource, key.name);
  const auto cached = store.Get(key);
  const kube::OwnerReference* owner = cached ? cached->meta.Controller() : nullptr;
  if (owner != nullptr && owner->uid == hand.state.uid) {
    hand.state.made.erase(name);
    return OkStatus();
  }
  if (!cached && hand.state.made.contains(name)) return OkStatus();
  const auto created = CreateOwned(hand, resource, object);
  if (!created.ok()) return Refused(hand, name, created.error());
  hand.state.made.insert(name);
  return OkStatus();
}

Status Actuator::Start(const JobInHand& hand, const std::vector<plan::StartReplica>& starts) {
  JobState& state = hand.state;
  if (starts.empty() || hand.now < state.create_after) return OkStatus();
  state.refused.reset();
  state.name_conflict.reset();
  const auto is_refused = [&state] { return state.refused || state.name_conflict; };
  PSTRAIN_RETURN_IF_ERROR(
      EnsureChild(hand, kube::ServiceResource(), services_, BuildService(hand.job)));
  if (is_refused()) return OkStatus();
  const Json config_map = BuildConfigMap(hand.job);
  PSTRAIN_RETURN_IF_ERROR(EnsureChild(hand, kube::ConfigMapResource(), config_maps_, config_map));
  if (is_refused()) return OkStatus();
  PSTRAIN_RETURN_IF_ERROR(CreatePods(hand, starts, TextOf(config_map.Find("metadata"), "name")));
  if (!is_refused()) state.refusals = 0;
  return OkStatus();
}

Status Actuator::CreatePods(const JobInHand& hand, const std::vector<plan::StartReplica>& starts,
                            const std::string& config_map) {
  struct Outcome {
    std::optional<Json> pod;
    std::optional<kube::ApiError> error;
    Status template_error;
  };
  std::vector<Outcome> outcomes(starts.size());
  RunParallel(starts.size(), options_.parallel_calls, [&](std::size_t i) {
    const plan::StartReplica& start = starts[i];
    const auto pod = BuildPod(hand.job, start.id, start.attempt, config_map, options_.pods);
    if (!pod.ok()) {
      outcomes[i].template_error = pod.status();
      return false;
    }
    auto created = CreateOwned(hand, kube::PodResource(), *pod);
    if (!created.ok()) {
      outcomes[i].error = created.TakeError();
      return false;
    }
    outcomes[i].pod = std::move(created).value();
    created_(hand, start);
    return true;
  });
  Status first_error;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Outcome& outcome = outcomes[i];
    if (outcome.pod) {
      Result<PodView> view = DecodePod(*outcome.pod);
      if (view.ok() && !observations_.IsGone(hand.state.uid, view->uid)) {
        hand.state.created[view->uid] = std::move(*view);
      }
      continue;
    }
    Status status;
    if (outcome.error) {
      status = Refused(hand, "pod of " + plan::ReplicaKey(starts[i].id), *outcome.error);
    } else if (!outcome.template_error.ok()) {
      hand.state.refused = Trouble{"InvalidTemplate", outcome.template_error.message()};
      hand.state.create_after = NextTry(hand.state, hand.now);
      ++hand.state.refusals;
    }
    if (first_error.ok()) first_error = status;
  }
  return first_error;
}

Status Actuator::Delete(const JobInHand& hand, const std::map<Target, std::int64_t>& targets) {
  struct Order {
    kube::ObjectKey key;
    kube::DeleteOptions options;
    Status status;
    bool done = false;
  };
  std::vector<Order> orders;
  const auto add = [&](const PodView& pod) {
    const auto target = targets.find({pod.place, pod.attempt});
    if (target == targets.end()) return;
    Order order{.key = {.name_space = pod.name_space, .name = pod.name},
                .options = {.uid = pod.uid},
                .status = {}};
    if (target->second >= 0) order.options.grace_seconds = target->second;
    orders.push_back(std::move(order));
  };
  for (const PodStore::Object& pod : hand.pods) {
    if (pod->object.ok()) add(*pod->object);
  }
  for (const auto& [uid, pod] : hand.state.created) add(pod);
  RunParallel(orders.size(), options_.parallel_calls, [&](std::size_t i) {
    const auto deleted =
        client_.Delete(kube::PodResource(), orders[i].key, orders[i].options, hand.stop);
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
    if (order.done) hand.state.stopped.insert(order.options.uid);
    if (first_error.ok()) first_error = order.status;
  }
  return first_error;
}

Status Actuator::CollectConfigMaps(const JobInHand& hand) {
  std::set<std::string> named;
  for (const PodStore::Object& pod : hand.pods) {
    if (pod->object.ok()) named.insert(pod->object->config_map);
  }
  for (const auto& [uid, pod] : hand.state.created) named.insert(pod.config_map);
  const auto owned = config_maps_.ByOwner(hand.state.uid);
  if (owned.size() <= 1) return OkStatus();
  named.insert(TextOf(BuildConfigMap(hand.job).Find("metadata"), "name"));
  for (const auto& config_map : owned) {
    if (named.contains(config_map->meta.key.name) || config_map->meta.deleting()) continue;
    const auto deleted = client_.Delete(kube::ConfigMapResource(), config_map->meta.key,
                                        {.uid = config_map->meta.uid}, hand.stop);
    const StatusCode code = deleted.status().code();
    if (!deleted.ok() && code != StatusCode::kNotFound && code != StatusCode::kAborted) {
      return deleted.status();
    }
  }
  return OkStatus();
}

}  // namespace pstrain::reconcile
