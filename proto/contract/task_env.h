#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace pstrain {

/// Names of the environment that an executor (operator or `pstrain run`) gives an agent, and that
/// the agent hands on to the training program. TF_CONFIG has its own codec,
/// proto/contract/tf_config.h.
inline constexpr std::string_view kTfConfigEnv = "TF_CONFIG";
/// The cluster part of TF_CONFIG, expanded by the kubelet; reserved in templates.
inline constexpr std::string_view kClusterEnv = "PSTRAIN_CLUSTER";
inline constexpr std::string_view kJobNameEnv = "PSTRAIN_JOB_NAME";
inline constexpr std::string_view kNamespaceEnv = "PSTRAIN_NAMESPACE";
inline constexpr std::string_view kReplicaTypeEnv = "PSTRAIN_REPLICA_TYPE";
inline constexpr std::string_view kReplicaIndexEnv = "PSTRAIN_REPLICA_INDEX";
inline constexpr std::string_view kAttemptEnv = "PSTRAIN_ATTEMPT";
inline constexpr std::string_view kRunIdEnv = "PSTRAIN_RUN_ID";
inline constexpr std::string_view kMetricsAddressEnv = "PSTRAIN_METRICS_ADDRESS";
inline constexpr std::string_view kJobFileEnv = "PSTRAIN_JOB_FILE";
inline constexpr std::string_view kGraceSecondsEnv = "PSTRAIN_GRACE_SECONDS";
/// Indices of workers are below this while the replica lives; only where that is known.
inline constexpr std::string_view kMostWorkersEnv = "PSTRAIN_MOST_WORKERS";
inline constexpr std::string_view kScratchDirEnv = "PSTRAIN_SCRATCH_DIR";
/// Read by the chief alone: a file with the number of ps that the job wants, rewritten by whoever
/// changes it.
inline constexpr std::string_view kPsReplicasFileEnv = "PSTRAIN_PS_REPLICAS_FILE";
/// Read by a ps alone: the address of a data plane of its own, with the name or IP that others
/// reach it by (runtime/rpc/transports.h; port 0 takes a free one). Not set: the data plane shares
/// the port of TF_CONFIG.
inline constexpr std::string_view kDataAddressEnv = "PSTRAIN_DATA_ADDRESS";
/// Read by the agent alone: where its last reading of the stats page goes when the training program
/// has ended, and its one-line termination message (/dev/termination-log when that exists).
inline constexpr std::string_view kFinalStatsFileEnv = "PSTRAIN_FINAL_STATS_FILE";
inline constexpr std::string_view kTerminationLogEnv = "PSTRAIN_TERMINATION_LOG";
/// Set by the agent for its child alone: the descriptor of the stats page.
inline constexpr std::string_view kStatsFdEnv = "PSTRAIN_STATS_FD";
/// Set by the agent for its child alone: where the child writes why it exits 87
/// (proto/contract/stated_failure.h).
inline constexpr std::string_view kFailureFileEnv = "PSTRAIN_FAILURE_FILE";

/// Who this replica is and where it finds its things. A value; any thread.
struct TaskEnv {
  std::string job_name;
  std::string name_space = "default";
  /// "chief", "ps", "worker" or "evaluator".
  std::string replica_type;
  int replica_index = 0;
  int attempt = 0;
  std::string run_id;
  /// host:port where the agent serves /metrics and health.
  std::string metrics_address = "0.0.0.0:9464";
  std::string job_file = "/etc/pstrain/job.yaml";
  /// From SIGTERM to SIGKILL.
  int grace_seconds = 30;
  /// For files that need not outlive the replica.
  std::string scratch_dir = "/tmp";
  /// Only of a chief whose job can change its number of ps while it runs.
  std::string ps_replicas_file;
  /// Only of a ps whose data plane has an address of its own.
  std::string data_address;
  /// What the executor promises of the workers' indices; absent: nothing.
  std::optional<int> most_workers;
  /// Only in the environment of the training program.
  std::optional<int> stats_fd;

  friend bool operator==(const TaskEnv&, const TaskEnv&) = default;
};

/// Set to anything: the training program admits the job's fields that are for tests only.
inline constexpr std::string_view kAllowTestOnlyEnv = "PSTRAIN_ALLOW_TEST_ONLY";
/// Where training programs kill themselves (runtime/cluster/fail_points.h). Read only where
/// kAllowTestOnlyEnv is set; `pstrain run` hands it on with the rest of its environment.
inline constexpr std::string_view kFailPointsEnv = "PSTRAIN_FAIL_POINTS";

/// Where the runtime's identity comes from; none of them set: nobody is asked who they are. The
/// file of a secret that all replicas of this run share (`pstrain run`).
inline constexpr std::string_view kIdentityKeyFileEnv = "PSTRAIN_IDENTITY_KEY_FILE";
/// Or, in a cluster: the folder of the projected tokens `chief` and `ps`, the file with the public
/// keys that they are signed by, their issuer, and the uid of the job that their audiences name.
inline constexpr std::string_view kIdentityTokensEnv = "PSTRAIN_IDENTITY_TOKENS";
inline constexpr std::string_view kIdentityJwksEnv = "PSTRAIN_IDENTITY_JWKS";
inline constexpr std::string_view kIdentityIssuerEnv = "PSTRAIN_IDENTITY_ISSUER";
inline constexpr std::string_view kJobUidEnv = "PSTRAIN_JOB_UID";
/// A folder with tls.crt, tls.key and ca.crt: connections between replicas are encrypted and both
/// ends show certificates.
inline constexpr std::string_view kTlsDirEnv = "PSTRAIN_TLS_DIR";
/// The volume that the folder comes from: of the operator the Secret of spec.security.tls, of
/// `pstrain run` a --volume of that name.
inline constexpr std::string_view kTlsVolume = "pstrain-tls";

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Name and value of every variable, in the order above.
Environment ToEnvironment(const TaskEnv& env);

/// Value of a variable; nullopt when it is not set. `main` passes one over getenv.
using EnvironmentLookup = std::function<std::optional<std::string>(std::string_view name)>;

/// Absent variables keep the defaults above; job name, replica type and index are required only
/// with `require_task`. INVALID_ARGUMENT, naming the variable, for a number that is none or is
/// negative, an unknown replica type, or a metrics address without a port.
Result<TaskEnv> FromEnvironment(const EnvironmentLookup& lookup, bool require_task = true);

}  // namespace pstrain
