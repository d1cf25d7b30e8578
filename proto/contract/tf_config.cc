#include "proto/contract/tf_config.h"

#include "base/text/json.h"
#include "proto/contract/roles.h"

namespace pstrain {
namespace {

constexpr std::string_view kWorker = RoleName(Role::kWorker);

std::string Quoted(std::string_view text) { return WriteJson(Json::String(std::string(text))); }

void AppendSeparated(std::string& text, const std::string& part) {
  if (!text.empty()) text += ',';
  text += part;
}

std::string DenseTasks(const std::map<int, std::string>& tasks) {
  std::string list;
  for (const auto& [index, address] : tasks) AppendSeparated(list, Quoted(address));
  return "[" + list + "]";
}

std::string SparseEntry(int index, const std::string& address) {
  return Quoted(std::to_string(index)) + ":" + Quoted(address);
}

std::string SparseTasks(const std::map<int, std::string>& tasks) {
  std::string members;
  for (const auto& [index, address] : tasks) {
    AppendSeparated(members, SparseEntry(index, address));
  }
  return "{" + members + "}";
}

}  // namespace

const std::string* TfConfig::Address(std::string_view role, int index) const {
  const auto tasks = cluster.find(role);
  if (tasks == cluster.end()) return nullptr;
  const auto task = tasks->second.find(index);
  return task == tasks->second.end() ? nullptr : &task->second;
}

std::string WriteClusterJson(const ClusterAddresses& cluster) {
  std::string members;
  for (const RoleTraits& role : kRoleTable) {
    const auto tasks = cluster.find(role.name);
    if (!role.in_cluster_spec || tasks == cluster.end() || tasks->second.empty()) continue;
    AppendSeparated(members, Quoted(role.name) + ":" + DenseTasks(tasks->second));
  }
  return "{" + members + "}";
}

std::string WriteSparseClusterInner(const ClusterAddresses& cluster) {
  std::string members;
  for (const RoleTraits& role : kRoleTable) {
    const auto tasks = cluster.find(role.name);
    if (role.role == Role::kWorker || !role.in_cluster_spec) continue;
    if (tasks == cluster.end() || tasks->second.empty()) continue;
    AppendSeparated(members, Quoted(role.name) + ":" + SparseTasks(tasks->second));
  }
  return members;
}

std::string WriteTfConfig(const TfConfig& config) {
  return WriteTfConfigAround(config, config.sparse ? WriteSparseClusterInner(config.cluster)
                                                   : WriteClusterJson(config.cluster));
}

std::string WriteTfConfigAround(const TfConfig& config, std::string cluster) {
  if (config.sparse) {
    const std::string* own = config.Address(config.task_type, config.task_index);
    if (config.task_type == kWorker && own != nullptr) {
      AppendSeparated(cluster, Quoted(kWorker) + ":{" + SparseEntry(config.task_index, *own) + "}");
    }
    cluster = "{" + cluster + "}";
  }
  return "{\"cluster\":" + cluster + ",\"task\":{\"type\":" + Quoted(config.task_type) +
         ",\"index\":" + std::to_string(config.task_index) +
         "},\"rpc_layer\":" + Quoted(config.rpc_layer) +
         ",\"environment\":" + Quoted(config.environment) + "}";
}

}  // namespace pstrain
