#include <pstrain/cluster_spec.h>

#include <cstddef>
#include <cstdint>

#include "base/text/json.h"

namespace pstrain {
namespace {

// Of a list with holes: an index beyond it is a mistake, not a cluster.
constexpr int kMostListed = 1'000'000;

// The wire format of protocol buffers, for the one message that is not worth a generated class.
void AppendVarint(std::uint64_t number, std::string* to) {
  constexpr int kBits = 7;
  constexpr std::uint64_t kMore = std::uint64_t{1} << kBits;
  for (; number >= kMore; number >>= kBits) to->push_back(static_cast<char>(number | kMore));
  to->push_back(static_cast<char>(number));
}

// A field that has a length: a text or a message.
void AppendBytes(int field, std::string_view bytes, std::string* to) {
  AppendVarint(static_cast<std::uint64_t>(field) << 3 | 2, to);
  AppendVarint(bytes.size(), to);
  to->append(bytes);
}

}  // namespace

ClusterSpec ClusterSpec::Of(
    const std::vector<std::pair<std::string, std::vector<std::string>>>& jobs) {
  ClusterSpec spec;
  for (const auto& [job, addresses] : jobs) {
    Tasks& tasks = spec.jobs_[job];
    tasks.clear();
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      tasks.emplace(static_cast<int>(i), addresses[i]);
    }
  }
  return spec;
}

std::vector<std::string> ClusterSpec::jobs() const {
  std::vector<std::string> names;
  for (const auto& [job, tasks] : jobs_) names.push_back(job);
  return names;
}

Result<const ClusterSpec::Tasks*> ClusterSpec::TasksOf(std::string_view job) const {
  const auto found = jobs_.find(job);
  if (found != jobs_.end()) return &found->second;
  return InvalidArgumentError("the cluster has no job \"" + std::string(job) + "\"");
}

Result<int> ClusterSpec::num_tasks(std::string_view job) const {
  PSTRAIN_ASSIGN_OR_RETURN(const Tasks* tasks, TasksOf(job));
  return static_cast<int>(tasks->size());
}

Result<std::vector<int>> ClusterSpec::task_indices(std::string_view job) const {
  PSTRAIN_ASSIGN_OR_RETURN(const Tasks* tasks, TasksOf(job));
  std::vector<int> indices;
  for (const auto& [index, address] : *tasks) indices.push_back(index);
  return indices;
}

Result<std::string> ClusterSpec::task_address(std::string_view job, int index) const {
  PSTRAIN_ASSIGN_OR_RETURN(const Tasks* tasks, TasksOf(job));
  const auto found = tasks->find(index);
  if (found != tasks->end()) return found->second;
  return InvalidArgumentError("job \"" + std::string(job) + "\" has no task " +
                              std::to_string(index));
}

Result<std::vector<std::optional<std::string>>> ClusterSpec::job_tasks(std::string_view job) const {
  PSTRAIN_ASSIGN_OR_RETURN(const Tasks* tasks, TasksOf(job));
  if (tasks->empty()) {
    return InvalidArgumentError("job \"" + std::string(job) + "\" has no tasks");
  }
  const int last = tasks->rbegin()->first;
  if (last > kMostListed) {
    return ResourceExhaustedError("job \"" + std::string(job) + "\": a list up to task " +
                                  std::to_string(last) + " is mostly holes");
  }
  std::vector<std::optional<std::string>> addresses(last < 0 ? 0
                                                             : static_cast<std::size_t>(last) + 1);
  for (const auto& [index, address] : *tasks) {
    if (index >= 0) addresses[static_cast<std::size_t>(index)] = address;
  }
  return addresses;
}

std::string ClusterSpec::ToJson() const {
  Json cluster = Json::Object();
  for (const auto& [job, tasks] : jobs_) {
    const bool dense = !tasks.empty() && tasks.begin()->first == 0 &&
                       static_cast<std::size_t>(tasks.rbegin()->first) + 1 == tasks.size();
    Json value = dense ? Json::Array() : Json::Object();
    for (const auto& [index, address] : tasks) {
      if (dense) {
        value.Append(Json::String(address));
      } else {
        value.Set(std::to_string(index), Json::String(address));
      }
    }
    cluster.Set(job, std::move(value));
  }
  return WriteJson(cluster);
}

// message ClusterDef { repeated JobDef job = 1; }
// message JobDef { string name = 1; map<int32, string> tasks = 2; }
std::string ClusterSpec::ToClusterDef() const {
  std::string cluster;
  for (const auto& [name, tasks] : jobs_) {
    std::string job;
    if (!name.empty()) AppendBytes(1, name, &job);
    for (const auto& [index, address] : tasks) {
      std::string task;
      AppendVarint(1 << 3, &task);
      // A negative int32 has the ten bytes of an int64.
      AppendVarint(static_cast<std::uint64_t>(std::int64_t{index}), &task);
      AppendBytes(2, address, &task);
      AppendBytes(2, task, &job);
    }
    AppendBytes(1, job, &cluster);
  }
  return cluster;
}

}  // namespace pstrain
