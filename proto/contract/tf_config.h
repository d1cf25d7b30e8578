#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/status.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// Training port of a replica in Kubernetes.
inline constexpr int kTrainingPort = 2222;

/// A Dense TF_CONFIG longer than this is written Sparse.
inline constexpr std::size_t kDenseTfConfigLimitBytes = std::size_t{64} << 10;
/// Longest TF_CONFIG that can be exec'd: Linux's MAX_ARG_STRLEN (include/uapi/linux/binfmts.h,
/// 32 pages of 4 KiB) less "TF_CONFIG=" and the end of the string.
inline constexpr std::size_t kMaxTfConfigBytes = (std::size_t{128} << 10) - 11;

/// role -> index -> "host:port". Sparse clusters have holes.
using ClusterAddresses = std::map<std::string, std::map<int, std::string>, std::less<>>;

/// What TF_CONFIG tells a task. A value; any thread.
struct TfConfig {
  ClusterAddresses cluster = {};
  std::string task_type = {};
  int task_index = 0;
  std::string rpc_layer = "grpc";
  std::string environment = "cloud";
  /// The cluster came from, or is written with, holes among the workers.
  bool sparse = false;

  /// The address of that task; nullptr when the cluster does not name it.
  const std::string* Address(std::string_view role, int index) const;
  friend bool operator==(const TfConfig&, const TfConfig&) = default;
};

/// The cluster as the value of `cluster` in TF_CONFIG, one line of JSON: chief, ps, worker in that
/// order, every index in order, byte-stable; any other role (the evaluator, which TensorFlow would
/// wait for) is left out. A role without tasks is left out.
std::string WriteClusterJson(const ClusterAddresses& cluster);

/// The cluster in the sparse form, without the braces and without workers: chief and ps as
/// index -> address.
std::string WriteSparseClusterInner(const ClusterAddresses& cluster);

/// {"cluster":...,"task":{"type":...,"index":...},"rpc_layer":"grpc","environment":"cloud"},
/// byte-stable. With `sparse`: all ps and chief and, of the workers, the own entry only, as
/// index -> address. REQUIRES: the task, unless an evaluator, is in the cluster.
std::string WriteTfConfig(const TfConfig& config);

/// The same around a text in place of the cluster, e.g. "$(PSTRAIN_CLUSTER)", which the kubelet
/// replaces by what WriteClusterJson or, when sparse, WriteSparseClusterInner wrote. REQUIRES: a
/// cluster whose inner text is not empty.
std::string WriteTfConfigAround(const TfConfig& config, std::string cluster);

/// Reads TF_CONFIG as TFConfigClusterResolver (TensorFlow 2.16) does: lists or index maps under
/// `cluster`, an index that may be text, unknown members ignored. `sparseCluster` stands in when
/// there is no `cluster`. Absent rpc_layer and environment are empty. Stricter than TensorFlow:
/// INVALID_ARGUMENT, with a plain message, when it is not JSON, has no cluster or no task, names a
/// task that is not in the cluster (an evaluator need not be), or one address twice or empty.
Result<TfConfig> ParseTfConfig(std::string_view text);

/// "<job>-<role>-<index>": pod host name of every attempt, and name of its first.
std::string ReplicaName(std::string_view job, std::string_view role, int index);

/// "<job>-<role>-<index>.<job>.<namespace>.svc:2222".
std::string KubernetesEndpoint(std::string_view job, std::string_view name_space,
                               std::string_view role, int index);

/// An empty namespace is "default".
std::string_view NamespaceOf(const ObjectMeta& metadata);

/// Chief, ps and workers of the job at their Kubernetes endpoints.
ClusterAddresses KubernetesCluster(const PSTrainingJob& job);

/// Whether the job's TF_CONFIG is written Sparse: by strategy.tfConfig, or because the longest
/// dense one would exceed kDenseTfConfigLimitBytes. That of workers alone is Dense: nothing of it
/// would be left.
bool UsesSparseTfConfig(const PSTrainingJob& job, const ClusterAddresses& cluster);

/// TF_CONFIG of one replica. NOT_FOUND when the job has no such role or index.
Result<std::string> TfConfigOf(const PSTrainingJob& job, const ClusterAddresses& cluster,
                               std::string_view role, int index);

/// Bytes of the longest TF_CONFIG of the job, in the form that it uses.
std::size_t LongestTfConfigBytes(const PSTrainingJob& job, const ClusterAddresses& cluster);

}  // namespace pstrain
