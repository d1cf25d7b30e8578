#pragma once

#include <pstrain/status.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pstrain {

/// Which tasks a cluster has: of each job (chief, ps, worker, evaluator) the index and the address
/// of its tasks. Mirrors tf.train.ClusterSpec; as there, addresses are any text and indices may
/// have holes. A job that is asked about and not there is INVALID_ARGUMENT. A value; any thread.
class ClusterSpec {
 public:
  /// Index -> address.
  using Tasks = std::map<int, std::string>;
  using Jobs = std::map<std::string, Tasks, std::less<>>;

  /// No jobs.
  ClusterSpec() = default;
  explicit ClusterSpec(Jobs jobs) : jobs_(std::move(jobs)) {}
  /// Of lists: the index of a task is its place. Of one job given twice the last list counts.
  static ClusterSpec Of(const std::vector<std::pair<std::string, std::vector<std::string>>>& jobs);

  /// There are no jobs. Mirrors bool(ClusterSpec), negated.
  bool empty() const { return jobs_.empty(); }
  /// Their names, sorted. Mirrors ClusterSpec.jobs.
  std::vector<std::string> jobs() const;
  bool has_job(std::string_view job) const { return jobs_.contains(job); }

  /// How many, holes not counted. Mirrors ClusterSpec.num_tasks.
  Result<int> num_tasks(std::string_view job) const;
  /// Sorted. Mirrors ClusterSpec.task_indices.
  Result<std::vector<int>> task_indices(std::string_view job) const;
  /// INVALID_ARGUMENT also for an index that is not there. Mirrors ClusterSpec.task_address.
  Result<std::string> task_address(std::string_view job, int index) const;
  /// From index 0 to the last one, nothing in a hole. INVALID_ARGUMENT also for a job without
  /// tasks, and RESOURCE_EXHAUSTED for an index beyond a million. Mirrors ClusterSpec.job_tasks.
  Result<std::vector<std::optional<std::string>>> job_tasks(std::string_view job) const;

  /// All of it. Mirrors ClusterSpec.as_dict.
  const Jobs& as_map() const { return jobs_; }
  /// One line of JSON, jobs sorted by name: a list where the indices are 0, 1, ..., else an object
  /// from index to address. What TF_CONFIG has under "cluster".
  std::string ToJson() const;
  /// The bytes of the protocol buffer tensorflow.ClusterDef that says the same, jobs sorted by name
  /// and tasks by index, as programs of TensorFlow read it: the cluster of a tensorflow.ServerDef,
  /// which TensorFlow's C API starts servers by. Names and addresses are to be UTF-8, which is not
  /// checked here. Mirrors ClusterSpec.as_cluster_def.
  std::string ToClusterDef() const;

  friend bool operator==(const ClusterSpec&, const ClusterSpec&) = default;

 private:
  Result<const Tasks*> TasksOf(std::string_view job) const;

  Jobs jobs_;
};

}  // namespace pstrain
