#include <pstrain/cluster_resolver.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "library/cluster/accelerators.h"
#include "library/cluster/tf_config_lenient.h"
#include "proto/contract/roles.h"
#include "proto/contract/tf_config.h"
#include "runtime/cluster/address.h"

namespace pstrain {
namespace {

// TensorFlow calls the tasks of one role a job, and the role their type.
constexpr std::string_view kChief = RoleName(Role::kChief);
constexpr std::string_view kWorker = RoleName(Role::kWorker);
constexpr std::string_view kPs = RoleName(Role::kPs);
constexpr std::string_view kEvaluator = RoleName(Role::kEvaluator);

// Tasks of that job; 0 where there is none.
int Count(const ClusterSpec& spec, std::string_view job) {
  const auto found = spec.as_map().find(job);
  return found == spec.as_map().end() ? 0 : static_cast<int>(found->second.size());
}

// What multi_worker_util checks of a cluster and a task in it.
Status CheckTask(const ClusterSpec& spec, const std::optional<std::string>& type,
                 std::optional<int> id) {
  const std::string allowed = "; a task is " + std::string(kRoleNames);
  for (const auto& [job, tasks] : spec.as_map()) {
    if (RoleFromName(job)) continue;
    return InvalidArgumentError("the cluster has the job \"" + job + "\"" + allowed);
  }
  if (type && !RoleFromName(*type)) {
    return InvalidArgumentError("the task type is \"" + *type + "\"" + allowed);
  }
  if (type && *type != kEvaluator && !spec.has_job(*type)) {
    return InvalidArgumentError("the task type is " + *type + ", of which the cluster has no job");
  }
  for (const RoleTraits& role : kRoleTable) {
    const int count = Count(spec, role.name);
    if (!role.singleton || count <= 1) continue;
    return InvalidArgumentError("the cluster has " + std::to_string(count) + " tasks " +
                                std::string(role.name) + ", and one is the most");
  }
  if (!type || !spec.has_job(*type)) return OkStatus();
  if (!id) return InvalidArgumentError("the task of type " + *type + " has no index");
  if (*id < Count(spec, *type)) return OkStatus();
  return InvalidArgumentError("the task is " + *type + " " + std::to_string(*id) + " of " +
                              std::to_string(Count(spec, *type)));
}

// TensorFlow looks no task up in a cluster without jobs, or with one job whose only task is 0; of
// one job without tasks it cannot tell.
Result<bool> IsAlone(const ClusterSpec& spec) {
  if (spec.empty()) return true;
  const auto& [job, tasks] = *spec.as_map().begin();
  if (spec.as_map().size() > 1) return false;
  if (tasks.empty()) return spec.job_tasks(job).status();
  return tasks.rbegin()->first == 0;
}

Result<std::string> AddressOf(const ClusterSpec& spec, const std::optional<std::string>& type,
                              std::optional<int> id, const std::string& rpc_layer) {
  if (!type) return InvalidArgumentError("master: no task type is given");
  if (!spec.has_job(*type)) return spec.task_address(*type, 0);
  if (!id) return InvalidArgumentError("master: no index of the " + *type + " is given");
  PSTRAIN_ASSIGN_OR_RETURN(const std::string address, spec.task_address(*type, *id));
  return rpc_layer.empty() ? address : rpc_layer + "://" + address;
}

// Of the process' own task, or of nobody in particular.
Result<Accelerators> AcceleratorsOf(const ClusterResolver::Asked& asked,
                                    const std::optional<std::string>& own_type,
                                    std::optional<int> own_id) {
  const bool own = (!asked.task_type || asked.task_type == own_type) &&
                   (!asked.task_id || asked.task_id == own_id);
  if (!own) {
    const std::string id = asked.task_id ? std::to_string(*asked.task_id) : "";
    return FailedPreconditionError("the accelerators of the " +
                                   asked.task_type.value_or(own_type.value_or("task")) + " " + id +
                                   " are known in its own process, and this is another one");
  }
  PSTRAIN_ASSIGN_OR_RETURN(const int gpus, CountGpusHere());
  Accelerators accelerators;
  if (gpus > 0) accelerators["GPU"] = gpus;
  return accelerators;
}

}  // namespace

Result<ClusterResolver> ClusterResolver::FromTfConfig(std::string_view text) {
  PSTRAIN_ASSIGN_OR_RETURN(TfConfig config, ParseTfConfig(text));
  Task task;
  ClusterSpec::Jobs jobs;
  for (auto& [role, addresses] : config.cluster) {
    for (const auto& [index, address] : addresses) {
      const Status status = SplitAddress(address).status();
      if (!status.ok()) {
        return status.WithContext("TF_CONFIG: " + role + " " + std::to_string(index));
      }
    }
    jobs.emplace(role, std::move(addresses));
  }
  task.cluster_spec = ClusterSpec(std::move(jobs));
  task.task_type = config.task_type;
  task.task_id = config.task_index;
  task.rpc_layer = config.rpc_layer;
  task.environment = config.environment;
  return ClusterResolver(std::move(task));
}

Result<ClusterResolver> ClusterResolver::FromEnvironment() {
  const char* text = std::getenv("TF_CONFIG");
  if (text == nullptr) return ClusterResolver();
  return FromTfConfig(text);
}

Result<std::string> ClusterResolver::Master(const Asked& asked) const {
  if (task_.session_master) return *task_.session_master;
  PSTRAIN_ASSIGN_OR_RETURN(const bool alone, IsAlone(task_.cluster_spec));
  if (alone) return std::string();
  return AddressOf(task_.cluster_spec, asked.task_type ? asked.task_type : task_.task_type,
                   asked.task_id ? asked.task_id : task_.task_id,
                   asked.rpc_layer.empty() ? task_.rpc_layer : asked.rpc_layer);
}

Result<Accelerators> ClusterResolver::NumAccelerators(const Asked& asked) const {
  if (task_.num_accelerators) return *task_.num_accelerators;
  PSTRAIN_RETURN_IF_ERROR(Master(asked).status());
  return AcceleratorsOf(asked, task_.task_type, task_.task_id);
}

Status ClusterResolver::CheckParameterServers() const {
  const ClusterSpec& spec = task_.cluster_spec;
  if (spec.empty()) return InvalidArgumentError("the cluster is empty");
  PSTRAIN_RETURN_IF_ERROR(CheckTask(spec, task_.task_type, task_.task_id));
  for (const std::string_view job : {kPs, kWorker}) {
    if (Count(spec, job) > 0) continue;
    return InvalidArgumentError("the cluster has no " + std::string(job) + ", and needs one");
  }
  return OkStatus();
}

Result<bool> ClusterResolver::IsChief() const {
  const ClusterSpec& spec = task_.cluster_spec;
  PSTRAIN_RETURN_IF_ERROR(CheckTask(spec, task_.task_type, task_.task_id));
  if (task_.task_type == kChief || task_.task_type == kEvaluator) return true;
  return !spec.has_job(kChief) && task_.task_type == kWorker && task_.task_id == 0;
}

Result<int> ClusterResolver::WorkerCount() const {
  const ClusterSpec& spec = task_.cluster_spec;
  PSTRAIN_RETURN_IF_ERROR(CheckTask(spec, task_.task_type, 0));
  if (task_.task_type == kEvaluator) return spec.num_tasks(kEvaluator);
  if (task_.task_type == kChief || task_.task_type == kWorker) {
    return Count(spec, kChief) + Count(spec, kWorker);
  }
  return InvalidArgumentError("worker count: a " + task_.task_type.value_or("task without a type") +
                              " is no worker");
}

Result<int> ClusterResolver::IdInCluster() const {
  const ClusterSpec& spec = task_.cluster_spec;
  PSTRAIN_RETURN_IF_ERROR(CheckTask(spec, task_.task_type, task_.task_id));
  if (task_.task_type == kChief) return 0;
  if (task_.task_id && task_.task_type == kWorker) return *task_.task_id + Count(spec, kChief);
  if (task_.task_id && task_.task_type == kEvaluator) return *task_.task_id;
  return InvalidArgumentError("id in the cluster: a " +
                              task_.task_type.value_or("task without a type") + " has none");
}

TfConfigClusterResolver::TfConfigClusterResolver(std::optional<std::string_view> text)
    : TfConfigClusterResolver(text, Overrides()) {}

TfConfigClusterResolver::TfConfigClusterResolver(std::optional<std::string_view> text,
                                                 const Overrides& overrides)
    : TfConfigClusterResolver(ReadTfConfigLeniently(text.value_or("{}")), overrides) {}

TfConfigClusterResolver::TfConfigClusterResolver(LenientTfConfig config, const Overrides& overrides)
    : cluster_spec_(std::move(config.cluster_spec)),
      task_type_(overrides.task_type ? overrides.task_type : std::move(config.task_type)),
      task_id_(overrides.task_id ? overrides.task_id : std::move(config.task_id)),
      rpc_layer_(overrides.rpc_layer ? overrides.rpc_layer : std::move(config.rpc_layer)),
      session_master_(std::move(config.session_master)),
      environment_(overrides.environment) {}

Result<std::string> TfConfigClusterResolver::Master(const ClusterResolver::Asked& asked) const {
  PSTRAIN_ASSIGN_OR_RETURN(const std::optional<std::string> session_master, session_master_);
  if (session_master) return *session_master;
  PSTRAIN_ASSIGN_OR_RETURN(const ClusterSpec spec, cluster_spec_);
  PSTRAIN_ASSIGN_OR_RETURN(const bool alone, IsAlone(spec));
  if (alone) return std::string();
  std::optional<std::string> type = asked.task_type;
  std::optional<int> id = asked.task_id;
  std::string rpc_layer = asked.rpc_layer;
  if (!type) {
    PSTRAIN_ASSIGN_OR_RETURN(type, task_type_);
  }
  if (!id) {
    PSTRAIN_ASSIGN_OR_RETURN(id, task_id_);
  }
  if (rpc_layer.empty()) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::optional<std::string> own, rpc_layer_);
    rpc_layer = own.value_or("");
  }
  return AddressOf(spec, type, id, rpc_layer);
}

Result<Accelerators> TfConfigClusterResolver::NumAccelerators(
    const ClusterResolver::Asked& asked) const {
  PSTRAIN_ASSIGN_OR_RETURN(const std::optional<std::string> type, task_type_);
  PSTRAIN_ASSIGN_OR_RETURN(const std::optional<int> id, task_id_);
  PSTRAIN_RETURN_IF_ERROR(Master(asked).status());
  return AcceleratorsOf(asked, type, id);
}

Result<ClusterResolver> TfConfigClusterResolver::Resolve() const {
  ClusterResolver::Task task;
  PSTRAIN_ASSIGN_OR_RETURN(task.cluster_spec, cluster_spec_);
  PSTRAIN_ASSIGN_OR_RETURN(task.task_type, task_type_);
  PSTRAIN_ASSIGN_OR_RETURN(task.task_id, task_id_);
  PSTRAIN_ASSIGN_OR_RETURN(const std::optional<std::string> rpc_layer, rpc_layer_);
  PSTRAIN_ASSIGN_OR_RETURN(task.session_master, session_master_);
  task.rpc_layer = rpc_layer.value_or("");
  task.environment = environment_;
  return ClusterResolver(std::move(task));
}

}  // namespace pstrain
