#include "library/cluster/tf_config_lenient.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include "base/text/json.h"

namespace pstrain {
namespace {

Status Wrong(std::string_view what, const std::string& why) {
  return InvalidArgumentError("TF_CONFIG: " + std::string(what) + " " + why);
}

// `value[key] if key in value else None`: the value, or nullptr where the key is missing. In Python
// a list and a text can be asked too, and of those no element can be had by a key.
Result<const Json*> Member(const Json& value, std::string_view where, std::string_view key) {
  bool is_in = false;
  if (value.is_object()) return value.Find(key);
  if (const std::string* text = value.AsString()) {
    is_in = text->find(key) != std::string::npos;
  } else if (value.is_array()) {
    is_in = std::ranges::any_of(value.items(), [&](const Json& item) {
      const std::string* name = item.AsString();
      return name != nullptr && *name == key;
    });
  } else {
    return Wrong(where, "is " + std::string(value.KindName()) + ", not an object");
  }
  if (is_in) return Wrong(where, "is no object, and has no member " + std::string(key));
  return nullptr;
}

// str().
std::string AsText(const Json& value) {
  if (const std::string* text = value.AsString()) return *text;
  if (value.is_null()) return "None";
  if (const std::optional<bool> truth = value.AsBool()) return *truth ? "True" : "False";
  return WriteJson(value);
}

// int() of a text: blanks around, a sign, digits with single underscores between them.
Result<int> IndexOf(const std::string& text, std::string_view where) {
  constexpr std::string_view kBlanks = " \t\n\r\f\v";
  const std::string no_number = "is \"" + text + "\", not a whole number";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string::npos) return Wrong(where, no_number);
  std::string digits = text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
  const bool negative = digits[0] == '-';
  if (negative || digits[0] == '+') digits.erase(0, 1);
  for (std::size_t i = 1; i + 1 < digits.size(); ++i) {
    if (digits[i] == '_' && digits[i - 1] != '_' && digits[i + 1] != '_') digits.erase(i--, 1);
  }
  int number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (digits.empty() || digits[0] == '-' || error != std::errc() || stop != end) {
    return Wrong(where, no_number);
  }
  return negative ? -number : number;
}

// int().
Result<int> IndexOf(const Json& value, std::string_view where) {
  if (const std::string* text = value.AsString()) return IndexOf(*text, where);
  if (const std::optional<bool> truth = value.AsBool()) return *truth ? 1 : 0;
  const std::optional<double> number = value.AsDouble();
  if (!number) return Wrong(where, "is " + std::string(value.KindName()) + ", not a number");
  if (!(std::abs(*number) <= std::numeric_limits<int>::max())) {
    return Wrong(where, "is " + WriteJson(value) + ", and no task has such an index");
  }
  return static_cast<int>(*number);
}

Result<ClusterSpec::Tasks> TasksOf(const std::string& job, const Json& value) {
  const std::string where = "cluster." + job;
  ClusterSpec::Tasks tasks;
  const auto add = [&](int index, const Json& address) {
    const std::string* text = address.AsString();
    if (text == nullptr) {
      return Wrong(where,
                   "has an address that is " + std::string(address.KindName()) + ", not text");
    }
    tasks[index] = *text;
    return OkStatus();
  };
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      PSTRAIN_RETURN_IF_ERROR(add(static_cast<int>(i), value.items()[i]));
    }
    return tasks;
  }
  if (!value.is_object()) {
    return Wrong(where, "is " + std::string(value.KindName()) +
                            ", not a list of addresses or an object from index to address");
  }
  for (const auto& [key, address] : value.members()) {
    PSTRAIN_ASSIGN_OR_RETURN(const int index, IndexOf(key, where));
    PSTRAIN_RETURN_IF_ERROR(add(index, address));
  }
  return tasks;
}

Result<ClusterSpec> ReadCluster(const Json& root) {
  PSTRAIN_ASSIGN_OR_RETURN(const Json* cluster, Member(root, "it", "cluster"));
  if (cluster == nullptr) return ClusterSpec();
  if (!cluster->is_object()) {
    return Wrong("cluster", "is " + std::string(cluster->KindName()) + ", not an object");
  }
  ClusterSpec::Jobs jobs;
  for (const auto& [job, value] : cluster->members()) {
    PSTRAIN_ASSIGN_OR_RETURN(jobs[job], TasksOf(job, value));
  }
  return ClusterSpec(std::move(jobs));
}

// A member of `task`; nullptr where there is none.
Result<const Json*> TaskMember(const Json& root, std::string_view key) {
  PSTRAIN_ASSIGN_OR_RETURN(const Json* task, Member(root, "it", "task"));
  if (task == nullptr) return nullptr;
  return Member(*task, "task", key);
}

Result<std::optional<std::string>> ReadTaskType(const Json& root) {
  PSTRAIN_ASSIGN_OR_RETURN(const Json* type, TaskMember(root, "type"));
  if (type == nullptr) return std::optional<std::string>();
  return std::optional(AsText(*type));
}

Result<std::optional<int>> ReadTaskId(const Json& root) {
  PSTRAIN_ASSIGN_OR_RETURN(const Json* index, TaskMember(root, "index"));
  if (index == nullptr) return std::optional<int>();
  PSTRAIN_ASSIGN_OR_RETURN(const int id, IndexOf(*index, "task.index"));
  return std::optional(id);
}

// A member that is taken as it is; null is none.
Result<std::optional<std::string>> ReadText(const Json& root, std::string_view key) {
  PSTRAIN_ASSIGN_OR_RETURN(const Json* value, Member(root, "it", key));
  if (value == nullptr || value->is_null()) return std::optional<std::string>();
  return std::optional(AsText(*value));
}

}  // namespace

LenientTfConfig ReadTfConfigLeniently(std::string_view text) {
  const Result<Json> parsed = ParseJson(text);
  if (!parsed.ok()) {
    const Status error = parsed.status().WithContext("TF_CONFIG is not JSON");
    return {error, error, error, error, error};
  }
  const Json& root = *parsed;
  return {ReadCluster(root), ReadTaskType(root), ReadTaskId(root), ReadText(root, "rpc_layer"),
          ReadText(root, "session_master")};
}

}  // namespace pstrain
