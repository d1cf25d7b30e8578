#include "operator/job/build/training_container.h"

#include <string_view>
#include <utility>

#include "operator/job/build/config_map.h"
#include "operator/job/build/env_entry.h"
#include "operator/job/build/identity_volume.h"
#include "operator/job/build/ps_count.h"
#include "operator/job/build/template_merge.h"
#include "operator/kube/json_fields.h"
#include "proto/contract/reserved_names.h"
#include "proto/contract/task_env.h"
#include "proto/contract/tf_config.h"

namespace pstrain::job {
namespace {

constexpr std::string_view kAgentProgram = "pstrain-agent";

/// TF_CONFIG with $(PSTRAIN_CLUSTER), which the kubelet replaces.
std::string TfConfigReference(const TrainingContainer& training) {
  const plan::ReplicaId& id = training.id;
  const ObjectMeta& metadata = training.job->metadata();
  TfConfig config;
  config.task_type = plan::RoleName(id.role);
  config.task_index = id.index;
  config.sparse = training.sparse_tf_config;
  // Of the cluster the text around it has no more than the task's own address.
  config.cluster[config.task_type][id.index] =
      KubernetesEndpoint(metadata.name(), NamespaceOf(metadata), config.task_type, id.index);
  return WriteTfConfigAround(config, "$(" + std::string(kClusterEnv) + ")");
}

TaskEnv TaskOf(const TrainingContainer& training) {
  TaskEnv task;
  const ObjectMeta& metadata = training.job->metadata();
  task.job_name = metadata.name();
  task.name_space = metadata.namespace_();
  task.replica_type = plan::RoleName(training.id.role);
  task.replica_index = training.id.index;
  task.attempt = training.attempt;
  task.run_id = metadata.uid();
  task.metrics_address = "0.0.0.0:" + std::to_string(kAgentPort);
  task.grace_seconds = static_cast<int>(training.grace.count());
  if (LearnsPsCount(training.job->spec(), training.id.role)) task.ps_replicas_file = kPsCountFile;
  return task;
}

Status SetEnvironment(const TrainingContainer& training, Json& container) {
  Json env = Json::Array();
  env.Append(EnvFromConfigMap(kClusterEnv, training.config_map, kClusterKey));
  env.Append(EnvValue(kTfConfigEnv, TfConfigReference(training)));
  for (const auto& [name, value] : ToEnvironment(TaskOf(training))) {
    env.Append(EnvValue(name, value));
  }
  if (training.identified) {
    for (Json& entry : IdentityEnvironment(*training.job)) env.Append(std::move(entry));
  }
  if (!TlsVolume(training.job->spec()).is_null()) env.Append(EnvValue(kTlsDirEnv, kTlsDirectory));
  const Json ours = env;
  if (const Json* theirs = container.Find("env")) {
    for (const Json& entry : theirs->items()) {
      const std::string name = kube::TextOrEmpty(entry, "name");
      for (const Json& taken : ours.items()) {
        if (name != kube::TextOrEmpty(taken, "name")) continue;
        return InvalidArgumentError(training.path + ".env: sets " + name +
                                    ", which pstrain sets itself; remove it");
      }
      env.Append(entry);
    }
  }
  container.Set("env", std::move(env));
  return OkStatus();
}

/// The agent becomes the container's first process; `args` stay as they are.
Status SetCommand(const TrainingContainer& training, Json& container) {
  const bool built_in_runtime = training.job->spec().has_training();
  const Json* command = container.Find("command");
  if (command != nullptr && !command->is_array()) {
    return InvalidArgumentError(training.path + ".command: must be a list");
  }
  Json agent = Json::Array();
  agent.Append(Text(kAgentProgram));
  if (command == nullptr || command->size() == 0) {
    if (built_in_runtime && container.Find("args") == nullptr) {
      container.Set("command", std::move(agent));
    }
    return OkStatus();
  }
  const std::string* program = command->items().front().AsString();
  const std::string_view name = program == nullptr ? std::string_view() : *program;
  if (name.substr(name.rfind('/') + 1) == kAgentProgram) return OkStatus();
  agent.Append(Text("--"));
  for (const Json& argument : command->items()) agent.Append(argument);
  container.Set("command", std::move(agent));
  return OkStatus();
}

Json Port(const ReservedPort& named) {
  Json port = Json::Object();
  port.Set("name", Text(named.name));
  port.Set("containerPort", Json::Int(named.number));
  port.Set("protocol", Text("TCP"));
  return port;
}

Status SetPorts(const TrainingContainer& training, Json& container) {
  const bool listens = training.id.role != plan::Role::kEvaluator;
  Json& ports = MemberOf(container, "ports", Json::Array());
  if (!ports.is_array()) {
    return InvalidArgumentError(training.path + ".ports: must be a list");
  }
  bool has_training = false;
  bool has_metrics = false;
  for (const Json& port : ports.items()) {
    has_training |= kube::IntegerOrZero(port, "containerPort") == kTrainingPort;
    has_metrics |= kube::IntegerOrZero(port, "containerPort") == kAgentPort;
  }
  if (listens && !has_training) ports.Append(Port(kNamedTrainingPort));
  if (!has_metrics) ports.Append(Port(kNamedAgentPort));
  return OkStatus();
}

Json HttpProbe(std::string_view path, int period_seconds, int failure_threshold) {
  Json get = Json::Object();
  get.Set("path", Text(path));
  get.Set("port", Json::Int(kAgentPort));
  Json probe = Json::Object();
  probe.Set("httpGet", std::move(get));
  probe.Set("periodSeconds", Json::Int(period_seconds));
  probe.Set("failureThreshold", Json::Int(failure_threshold));
  return probe;
}

Status SetSecurity(const TrainingContainer& training, Json& container) {
  Json& context = MemberOf(container, "securityContext", Json::Object());
  if (!context.is_object()) {
    return InvalidArgumentError(training.path + ".securityContext: must be an object");
  }
  SetDefault(context, "allowPrivilegeEscalation", Json::Bool(false));
  Json dropped = Json::Array();
  dropped.Append(Text("ALL"));
  Json capabilities = Json::Object();
  capabilities.Set("drop", std::move(dropped));
  SetDefault(context, "capabilities", std::move(capabilities));
  if (training.job->spec().has_training()) {
    SetDefault(context, "readOnlyRootFilesystem", Json::Bool(true));
  }
  return OkStatus();
}

}  // namespace

Status CompleteContainer(const TrainingContainer& training, Json& container) {
  constexpr int kReadyPeriodSeconds = 2;
  constexpr int kReadyFailures = 1;
  constexpr int kLivePeriodSeconds = 10;
  constexpr int kLiveFailures = 6;
  const bool built_in_runtime = training.job->spec().has_training();
  SetDefault(container, "name", Text("training"));
  if (container.Find("image") == nullptr) {
    if (!built_in_runtime) {
      return InvalidArgumentError(training.path +
                                  ".image: is required in a job without spec.training");
    }
    container.Set("image", Text(training.image));
    if (!training.image_pull_policy.empty()) {
      SetDefault(container, "imagePullPolicy", Text(training.image_pull_policy));
    }
  }
  PSTRAIN_RETURN_IF_ERROR(SetCommand(training, container));
  PSTRAIN_RETURN_IF_ERROR(SetEnvironment(training, container));
  PSTRAIN_RETURN_IF_ERROR(SetPorts(training, container));
  PSTRAIN_RETURN_IF_ERROR(SetSecurity(training, container));
  SetDefault(container, "readinessProbe",
             HttpProbe("/readyz", kReadyPeriodSeconds, kReadyFailures));
  SetDefault(container, "livenessProbe", HttpProbe("/healthz", kLivePeriodSeconds, kLiveFailures));
  return OkStatus();
}

}  // namespace pstrain::job
