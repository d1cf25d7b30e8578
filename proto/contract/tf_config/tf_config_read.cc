#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "base/text/json.h"
#include "base/text/parse_number.h"
#include "proto/contract/roles.h"
#include "proto/contract/tf_config.h"

namespace pstrain {
namespace {

std::string Quoted(std::string_view text) { return WriteJson(Json::String(std::string(text))); }

std::string TaskName(std::string_view role, int index) {
  return std::string(role) + " " + std::to_string(index);
}

/// Text as Python's int() reads it: white space around, a sign, decimal digits.
std::optional<int> ParseIndexText(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(kSpace) - first + 1);
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto index = ParseNumber<int>(text);
  return index && *index >= 0 ? index : std::nullopt;
}

/// int() of the resolver: numbers are cut off, true is 1, text is read.
std::optional<int> ReadIndex(const Json& value) {
  if (value.is_string()) return ParseIndexText(*value.AsString());
  if (const auto truth = value.AsBool()) return *truth ? 1 : 0;
  const auto number = value.AsDouble();
  if (!number || !std::isfinite(*number) || *number < 0 ||
      *number > std::numeric_limits<int>::max()) {
    return std::nullopt;
  }
  return static_cast<int>(*number);
}

class ClusterReader {
 public:
  explicit ClusterReader(TfConfig& config) : config_(config) {}

  Status Read(const Json& cluster) {
    if (!cluster.is_object()) {
      return InvalidArgumentError(
          "the cluster must be an object of roles, each with its addresses");
    }
    for (const auto& [role, tasks] : cluster.members()) {
      PSTRAIN_RETURN_IF_ERROR(ReadRole(role, tasks));
    }
    for (const auto& [role, tasks] : config_.cluster) {
      if (!tasks.empty()) return OkStatus();
    }
    return InvalidArgumentError("the cluster names no task");
  }

 private:
  Status ReadRole(const std::string& role, const Json& tasks) {
    auto& addresses = config_.cluster[role];
    if (tasks.is_array()) {
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        PSTRAIN_RETURN_IF_ERROR(AddTask(role, static_cast<int>(i), tasks.items()[i], addresses));
      }
      return OkStatus();
    }
    if (!tasks.is_object()) {
      return InvalidArgumentError("the tasks of " + Quoted(role) +
                                  " must be a list of addresses or an object from index to "
                                  "address");
    }
    config_.sparse = true;
    for (const auto& [key, address] : tasks.members()) {
      const auto index = ParseIndexText(key);
      if (!index) {
        return InvalidArgumentError("the index " + Quoted(key) + " of " + Quoted(role) +
                                    " must be a whole number from 0");
      }
      PSTRAIN_RETURN_IF_ERROR(AddTask(role, *index, address, addresses));
    }
    return OkStatus();
  }

  Status AddTask(const std::string& role, int index, const Json& address,
                 std::map<int, std::string>& addresses) {
    const std::string* text = address.AsString();
    if (text == nullptr) {
      return InvalidArgumentError("the address of " + TaskName(role, index) + " must be text");
    }
    if (text->empty()) {
      return InvalidArgumentError("the address of " + TaskName(role, index) + " is empty");
    }
    const auto [other, is_new] = owners_.emplace(*text, TaskName(role, index));
    if (!is_new) {
      return InvalidArgumentError("the address " + *text + " is there twice: " + other->second +
                                  " and " + TaskName(role, index) + "; each needs its own");
    }
    if (!addresses.emplace(index, *text).second) {
      return InvalidArgumentError(TaskName(role, index) + " is there twice");
    }
    return OkStatus();
  }

  TfConfig& config_;
  std::map<std::string, std::string> owners_;  // address -> task
};

Status ReadTask(const Json& root, TfConfig& config) {
  const Json* task = root.Find("task");
  if (task == nullptr) return InvalidArgumentError("there is no task: this process has no role");
  if (!task->is_object()) return InvalidArgumentError("task must be an object {type, index}");
  const Json* type = task->Find("type");
  const Json* index = task->Find("index");
  if (type == nullptr || !type->is_string()) {
    return InvalidArgumentError("task.type must be the name of a role");
  }
  config.task_type = *type->AsString();
  const auto number = index == nullptr ? std::nullopt : ReadIndex(*index);
  if (!number) return InvalidArgumentError("task.index must be a whole number from 0");
  config.task_index = *number;
  if (config.task_type == RoleName(Role::kEvaluator) &&
      !config.cluster.contains(RoleName(Role::kEvaluator))) {
    return OkStatus();
  }
  if (config.Address(config.task_type, config.task_index) != nullptr) return OkStatus();
  const auto tasks = config.cluster.find(config.task_type);
  const std::string there = tasks == config.cluster.end()
                                ? "no role of that name"
                                : std::to_string(tasks->second.size()) + " of that role";
  return InvalidArgumentError("there is no task " + TaskName(config.task_type, config.task_index) +
                              " in the cluster, which has " + there +
                              "; add it to the cluster or correct the task");
}

Status ReadText(const Json& root, std::string_view name, std::string& out) {
  const Json* value = root.Find(name);
  out.clear();
  if (value == nullptr || value->is_null()) return OkStatus();
  if (!value->is_string()) return InvalidArgumentError(std::string(name) + " must be text");
  out = *value->AsString();
  return OkStatus();
}

Result<TfConfig> Read(const Json& root) {
  if (!root.is_object()) return InvalidArgumentError("must be an object");
  TfConfig config;
  const Json* cluster = root.Find("cluster");
  if (cluster == nullptr) cluster = root.Find("sparseCluster");
  if (cluster == nullptr) return InvalidArgumentError("there is no cluster");
  PSTRAIN_RETURN_IF_ERROR(ClusterReader(config).Read(*cluster));
  PSTRAIN_RETURN_IF_ERROR(ReadTask(root, config));
  PSTRAIN_RETURN_IF_ERROR(ReadText(root, "rpc_layer", config.rpc_layer));
  PSTRAIN_RETURN_IF_ERROR(ReadText(root, "environment", config.environment));
  return config;
}

}  // namespace

Result<TfConfig> ParseTfConfig(std::string_view text) {
  auto root = ParseJson(text);
  if (!root.ok()) return root.status().WithContext("TF_CONFIG is not JSON");
  auto config = Read(*root);
  if (!config.ok()) return config.status().WithContext("TF_CONFIG");
  return config;
}

}  // namespace pstrain
