#pragma once

#include <pstrain/cluster_spec.h>
#include <pstrain/status.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace pstrain {

struct LenientTfConfig;

/// How many accelerators of a kind: {{"GPU", 2}}; a kind of which there are none is not in it.
using Accelerators = std::map<std::string, int>;

/// Which cluster this process belongs to and which of its tasks it is. Mirrors
/// tf.distribute.cluster_resolver.ClusterResolver, but it is read once: what it says never changes.
/// One without a cluster means that chief, ps and worker are threads of this process. A value; any
/// thread.
class ClusterResolver {
 public:
  /// What a resolver knows. Nothing, or "", stands for TensorFlow's None.
  struct Task {
    ClusterSpec cluster_spec = {};
    std::optional<std::string> task_type = {};
    std::optional<int> task_id = {};
    /// "grpc", or none: put before addresses that Master gives.
    std::string rpc_layer = {};
    std::string environment = {};
    /// What Master answers, whatever the cluster is.
    std::optional<std::string> session_master = {};
    /// What NumAccelerators answers of every task. Mirrors num_accelerators of
    /// SimpleClusterResolver.
    std::optional<Accelerators> num_accelerators = {};
  };
  /// A task to ask for; what is left out is the process' own.
  struct Asked {
    std::optional<std::string> task_type = {};
    std::optional<int> task_id = {};
    std::string rpc_layer = {};
  };

  /// No cluster.
  ClusterResolver() = default;
  /// Mirrors SimpleClusterResolver: takes what it is given, unchecked. CheckParameterServers
  /// checks.
  explicit ClusterResolver(Task task) : task_(std::move(task)) {}

  /// Reads a TF_CONFIG strictly: as TensorFlow, where `sparseCluster` may stand for `cluster`.
  /// Stricter: INVALID_ARGUMENT, in plain words, when it is not JSON, has no cluster or no task,
  /// names a task that is not in the cluster (an evaluator need not be), an address twice, or one
  /// that is not "host:port".
  static Result<ClusterResolver> FromTfConfig(std::string_view text);
  /// The same of the environment variable TF_CONFIG; without it there is no cluster. Not while
  /// another thread changes the environment.
  static Result<ClusterResolver> FromEnvironment();

  /// Mirrors ClusterResolver.cluster_spec().
  const ClusterSpec& cluster_spec() const { return task_.cluster_spec; }
  /// "chief", "ps", "worker", "evaluator", or another name. Mirrors ClusterResolver.task_type.
  const std::optional<std::string>& task_type() const { return task_.task_type; }
  /// Mirrors ClusterResolver.task_id.
  std::optional<int> task_id() const { return task_.task_id; }
  /// Mirrors ClusterResolver.rpc_layer.
  const std::string& rpc_layer() const { return task_.rpc_layer; }
  /// Mirrors ClusterResolver.environment.
  const std::string& environment() const { return task_.environment; }

  /// The address of a task, with "rpc_layer://" before it where there is one; "" where there is no
  /// cluster or one of a single task. Mirrors ClusterResolver.master. INVALID_ARGUMENT: no such
  /// task.
  Result<std::string> Master() const { return Master(Asked()); }
  Result<std::string> Master(const Asked& asked) const;

  /// The accelerators of a task: what the resolver was given, or else those that this process may
  /// use, if it is that task. These are NVIDIA's GPUs, of which CUDA_VISIBLE_DEVICES may hide some;
  /// they are counted again each time, without a driver. Not while another thread changes the
  /// environment. Mirrors ClusterResolver.num_accelerators, which counts other tasks once it has
  /// connected to them. Errors as Master; FAILED_PRECONDITION: it is another task, which knows by
  /// itself; others: /dev cannot be read.
  Result<Accelerators> NumAccelerators() const { return NumAccelerators(Asked()); }
  Result<Accelerators> NumAccelerators(const Asked& asked) const;

  /// What tf.distribute.ParameterServerStrategy checks before it connects: INVALID_ARGUMENT for an
  /// empty cluster; a job or an own task type beside chief, worker, ps and evaluator; an own task
  /// that is not in the cluster (an evaluator need not be); more than one chief or evaluator; no ps
  /// or no worker. Without a task type the process is a coordinator outside of the cluster.
  Status CheckParameterServers() const;

  /// Whether the task does what only one does: the chief, an evaluator, or worker 0 where there is
  /// no chief. Mirrors multi_worker_util.is_chief. INVALID_ARGUMENT as CheckParameterServers, but
  /// any number of ps and workers is right.
  Result<bool> IsChief() const;
  /// Tasks that train where every worker drives its own steps: chief and workers; of an evaluator,
  /// evaluators. Mirrors multi_worker_util.worker_count. INVALID_ARGUMENT also for a ps.
  Result<int> WorkerCount() const;
  /// The place among those. Mirrors multi_worker_util.id_in_cluster. INVALID_ARGUMENT also for a
  /// ps.
  Result<int> IdInCluster() const;

 private:
  Task task_;
};

/// Reads TF_CONFIG with TensorFlow's leniency, a part at a time: a task that cannot be read does
/// not hide the cluster. Mirrors tf.distribute.cluster_resolver.TFConfigClusterResolver, but the
/// text is given and read once. Numbers and texts are converted as Python's str() and int() do.
/// Deviations: an object with one key twice, and NaN, are not JSON here. Errors are
/// INVALID_ARGUMENT. A value; any thread.
class TfConfigClusterResolver {
 public:
  /// What is given here counts instead of what TF_CONFIG says. The environment only counts here.
  struct Overrides {
    std::optional<std::string> task_type = {};
    std::optional<int> task_id = {};
    std::optional<std::string> rpc_layer = {};
    std::string environment = {};
  };

  /// Nothing stands for a variable that is not set, which is "{}"; "" is not JSON.
  explicit TfConfigClusterResolver(std::optional<std::string_view> text);
  TfConfigClusterResolver(std::optional<std::string_view> text, const Overrides& overrides);

  Result<ClusterSpec> cluster_spec() const { return cluster_spec_; }
  Result<std::optional<std::string>> task_type() const { return task_type_; }
  Result<std::optional<int>> task_id() const { return task_id_; }
  Result<std::optional<std::string>> rpc_layer() const { return rpc_layer_; }
  const std::string& environment() const { return environment_; }
  /// As ClusterResolver::Master; needs of TF_CONFIG only what it looks at.
  Result<std::string> Master(const ClusterResolver::Asked& asked = {}) const;
  /// As ClusterResolver::NumAccelerators.
  Result<Accelerators> NumAccelerators(const ClusterResolver::Asked& asked = {}) const;

  /// All of it, or the first part that cannot be read. It is not checked yet.
  Result<ClusterResolver> Resolve() const;

 private:
  TfConfigClusterResolver(LenientTfConfig config, const Overrides& overrides);

  Result<ClusterSpec> cluster_spec_;
  Result<std::optional<std::string>> task_type_;
  Result<std::optional<int>> task_id_;
  Result<std::optional<std::string>> rpc_layer_;
  Result<std::optional<std::string>> session_master_;
  std::string environment_;
};

}  // namespace pstrain
