#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "base/text/json.h"

namespace pstrain {

/// Command line of pstrain-operator. Flags are --name=value or --name value; names that
/// controller-runtime's operators have mean the same here. A value. The functions are pure: any
/// thread.
struct OperatorOptions {
  std::string kubeconfig;  // empty: $KUBECONFIG, else the pod's service account
  std::string context;
  std::string name_space;  // of the jobs; empty: all
  std::string metrics_address = "0.0.0.0";
  std::uint16_t metrics_port = 8080;
  std::string health_address = "0.0.0.0";
  std::uint16_t health_port = 8081;
  bool leader_elect = false;
  std::string leader_election_namespace;  // empty: that of the credentials
  std::string leader_election_id = "pstrain-operator";
  std::chrono::seconds lease_duration{15};
  std::chrono::seconds renew_deadline{10};
  std::chrono::seconds retry_period{2};
  std::string training_image = "pstrain/training:latest";
  std::string training_image_pull_policy;
  int workers = 16;     // jobs reconciled concurrently
  int api_calls = 128;  // concurrent requests to the apiserver
  double api_qps = 0;   // requests per second; 0: no bound but the apiserver's
  int api_burst = 1000;
  std::chrono::milliseconds progress_period{5000};
  std::chrono::milliseconds progress_status_period{30000};
  /// Who may read the metrics of training pods, a list of NetworkPolicyPeer; nothing: jobs get no
  /// NetworkPolicy.
  std::optional<Json> job_network_policy_peers;
  bool metrics_authorization = false;
  /// Jobs wait where replicas cannot check who calls them.
  bool require_peer_identity = false;
  LogLevel log_level = LogLevel::kInfo;
  bool help = false;
  bool version = false;
};

/// What --help prints.
std::string OperatorUsage();

/// `arguments` without argv[0]. INVALID_ARGUMENT names the flag, what is wrong with its value and
/// what it takes.
Result<OperatorOptions> ParseOperatorOptions(const std::vector<std::string>& arguments);

}  // namespace pstrain
