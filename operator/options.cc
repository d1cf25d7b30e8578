#include "operator/options.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "base/text/parse_number.h"

namespace pstrain {
namespace {

constexpr int kMostThreads = 1000;
constexpr int kMostRequests = 1'000'000;

using Apply = Status (*)(std::string_view value, OperatorOptions& options);

Status Bad(std::string_view value, std::string_view wanted) {
  return InvalidArgumentError("\"" + std::string(value) + "\" is not " + std::string(wanted));
}

/// "250ms", "5s" or "2m".
std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 3> kUnits = {
      {{"ms", 1}, {"s", 1000}, {"m", 60'000}}};
  for (const auto& [unit, milliseconds] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto number = ParseNumber<std::int64_t>(text.substr(0, text.size() - unit.size()));
    constexpr std::int64_t kMost = 1'000'000;
    if (number && *number > 0 && *number <= kMost) {
      return std::chrono::milliseconds(*number * milliseconds);
    }
  }
  return std::nullopt;
}

Status SetAddress(std::string_view value, std::string& host, std::uint16_t& port) {
  const std::size_t colon = value.rfind(':');
  const auto number = colon == std::string_view::npos
                          ? std::nullopt
                          : ParseNumber<std::uint16_t>(value.substr(colon + 1));
  if (!number) return Bad(value, "an address; write HOST:PORT or :PORT");
  host = colon == 0 ? "0.0.0.0" : std::string(value.substr(0, colon));
  port = *number;
  return OkStatus();
}

Status SetDuration(std::string_view value, std::chrono::milliseconds& target) {
  const auto duration = ParseDuration(value);
  if (!duration) return Bad(value, "a duration; write 500ms or 5s");
  target = *duration;
  return OkStatus();
}

Status SetSeconds(std::string_view value, std::chrono::seconds& seconds) {
  const auto duration = ParseDuration(value);
  if (!duration || *duration < std::chrono::seconds(1)) {
    return Bad(value, "a duration of at least 1s; write 15s or 2m");
  }
  seconds = std::chrono::duration_cast<std::chrono::seconds>(*duration);
  return OkStatus();
}

template <typename T>
Status SetPositive(std::string_view value, T& target, T most) {
  const auto number = ParseNumber<T>(value);
  // Written so that NaN is refused too.
  if (!number || !(*number > 0 && *number <= most)) {
    return Bad(value, "a number greater than 0 and up to " +
                          std::to_string(static_cast<std::int64_t>(most)));
  }
  target = *number;
  return OkStatus();
}

Status SetBool(std::string_view value, bool& target) {
  if (value != "true" && value != "false") return Bad(value, "true or false");
  target = value == "true";
  return OkStatus();
}

/// A list of objects, whose fields the apiserver checks when a policy is created.
Status SetPeers(std::string_view value, std::optional<Json>& target) {
  Result<Json> peers = ParseJson(value);
  const bool usable =
      peers.ok() && peers->is_array() &&
      std::all_of(peers->items().begin(), peers->items().end(),
                  [](const Json& peer) { return peer.is_object() && peer.size() > 0; });
  if (!usable) {
    return Bad(value,
               "a list of NetworkPolicyPeer; write [{\"podSelector\": {...}}], or [] for none");
  }
  target = std::move(peers).value();
  return OkStatus();
}

Status SetText(std::string_view value, std::string& target) {
  target = value;
  return OkStatus();
}

struct Flag {
  std::string_view name;
  std::string_view value;  // in the usage; empty: a switch, true without a value
  std::string_view help;
  Apply apply;
};

using Options = OperatorOptions;
using Text = std::string_view;

constexpr std::array<Flag, 25> kFlags = {{
    {"kubeconfig", "FILE", "kubeconfig file; default: $KUBECONFIG, else the pod's service account",
     [](Text v, Options& o) { return SetText(v, o.kubeconfig); }},
    {"context", "NAME", "context of the kubeconfig; default: its current-context",
     [](Text v, Options& o) { return SetText(v, o.context); }},
    {"namespace", "NAME", "reconcile the jobs of this namespace only; default: all namespaces",
     [](Text v, Options& o) { return SetText(v, o.name_space); }},
    {"metrics-bind-address", "[HOST]:PORT", "address of /metrics; default :8080",
     [](Text v, Options& o) { return SetAddress(v, o.metrics_address, o.metrics_port); }},
    {"health-probe-bind-address", "[HOST]:PORT", "address of /healthz and /readyz; default :8081",
     [](Text v, Options& o) { return SetAddress(v, o.health_address, o.health_port); }},
    {"leader-elect", "", "reconcile only while holding the Lease; needed with several operators",
     [](Text v, Options& o) { return SetBool(v, o.leader_elect); }},
    {"leader-election-namespace", "NAME", "namespace of the Lease; default: the operator's own",
     [](Text v, Options& o) { return SetText(v, o.leader_election_namespace); }},
    {"leader-election-id", "NAME", "name of the Lease; default pstrain-operator",
     [](Text v, Options& o) { return SetText(v, o.leader_election_id); }},
    {"leader-elect-lease-duration", "TIME",
     "how long others wait for a leader that does not renew; default 15s",
     [](Text v, Options& o) { return SetSeconds(v, o.lease_duration); }},
    {"leader-elect-renew-deadline", "TIME",
     "how long a leader tries to renew before it gives up; default 10s",
     [](Text v, Options& o) { return SetSeconds(v, o.renew_deadline); }},
    {"leader-elect-retry-period", "TIME",
     "time between two tries to get or renew the Lease; default 2s",
     [](Text v, Options& o) { return SetSeconds(v, o.retry_period); }},
    {"training-image", "IMAGE", "image of replicas whose template names none",
     [](Text v, Options& o) { return SetText(v, o.training_image); }},
    {"training-image-pull-policy", "POLICY", "Always, IfNotPresent or Never, for that image",
     [](Text v, Options& o) { return SetText(v, o.training_image_pull_policy); }},
    {"max-concurrent-reconciles", "N", "jobs reconciled concurrently, at most; default 16",
     [](Text v, Options& o) { return SetPositive(v, o.workers, kMostThreads); }},
    {"kube-api-calls", "N", "concurrent requests to the apiserver, at most; default 128",
     [](Text v, Options& o) { return SetPositive(v, o.api_calls, kMostThreads); }},
    {"kube-api-qps", "N",
     "requests to the apiserver per second; default: unlimited; after a 429 all requests wait as "
     "long as the apiserver asks",
     [](Text v, Options& o) {
       return SetPositive(v, o.api_qps, static_cast<double>(kMostRequests));
     }},
    {"kube-api-burst", "N", "requests allowed in a burst above --kube-api-qps; default 1000",
     [](Text v, Options& o) { return SetPositive(v, o.api_burst, kMostRequests); }},
    {"progress-period", "TIME",
     "how often the operator asks each chief for its progress; default 5s",
     [](Text v, Options& o) { return SetDuration(v, o.progress_period); }},
    {"progress-status-period", "TIME",
     "how often progress alone changes a job's status; default 30s",
     [](Text v, Options& o) { return SetDuration(v, o.progress_status_period); }},
    {"job-network-policy-peers", "JSON",
     "make a NetworkPolicy for each job, in which these peers, a list of NetworkPolicyPeer, may "
     "read "
     "metrics; default: none is made",
     [](Text v, Options& o) { return SetPeers(v, o.job_network_policy_peers); }},
    {"metrics-authorization", "",
     "serve /metrics only to tokens that may get it (TokenReview, SubjectAccessReview)",
     [](Text v, Options& o) { return SetBool(v, o.metrics_authorization); }},
    {"require-peer-identity", "",
     "start no replica of the built-in runtime that could not check who calls it",
     [](Text v, Options& o) { return SetBool(v, o.require_peer_identity); }},
    {"log-level", "LEVEL", "debug, info, warning or error; default info",
     [](Text v, Options& o) {
       const auto level = ParseLogLevel(v);
       if (!level) return Bad(v, "debug, info, warning or error");
       o.log_level = *level;
       return OkStatus();
     }},
    {"help", "", "print this", [](Text v, Options& o) { return SetBool(v, o.help); }},
    {"version", "", "print the version", [](Text v, Options& o) { return SetBool(v, o.version); }},
}};

Status CheckTogether(const OperatorOptions& options) {
  constexpr int kJitterPercent = 120;
  const bool ordered = options.lease_duration > options.renew_deadline &&
                       options.renew_deadline * 100 > options.retry_period * kJitterPercent;
  if (!ordered) {
    return InvalidArgumentError(
        "--leader-elect-*: the lease duration must be greater than the renew deadline, and that "
        "greater than 1.2 times the retry period");
  }
  for (const std::string_view policy : {"", "Always", "IfNotPresent", "Never"}) {
    if (options.training_image_pull_policy == policy) return OkStatus();
  }
  return InvalidArgumentError(
      "--training-image-pull-policy: must be Always, IfNotPresent or Never");
}

}  // namespace

std::string OperatorUsage() {
  constexpr std::size_t kColumn = 42;
  std::string usage =
      "usage: pstrain-operator [options]\n\n"
      "Runs the PSTrainingJobs of a cluster.\n\n";
  for (const Flag& flag : kFlags) {
    std::string line = "  --" + std::string(flag.name);
    if (!flag.value.empty()) line += "=" + std::string(flag.value);
    line.resize(std::max(line.size() + 2, kColumn), ' ');
    usage += line + std::string(flag.help) + "\n";
  }
  return usage;
}

Result<OperatorOptions> ParseOperatorOptions(const std::vector<std::string>& arguments) {
  OperatorOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const Flag* flag = nullptr;
    for (const Flag& candidate : kFlags) {
      if (name.starts_with("--") && name.substr(2) == candidate.name) flag = &candidate;
    }
    if (flag == nullptr) return InvalidArgumentError(std::string(name) + ": unknown flag");
    std::string_view value = "true";
    if (equals != std::string_view::npos) {
      value = argument.substr(equals + 1);
    } else if (!flag->value.empty()) {
      if (++i == arguments.size()) {
        return InvalidArgumentError(std::string(name) + ": needs a value");
      }
      value = arguments[i];
    }
    const Status applied = flag->apply(value, options);
    if (!applied.ok()) return applied.WithContext(std::string(name));
  }
  PSTRAIN_RETURN_IF_ERROR(CheckTogether(options));
  return options;
}

}  // namespace pstrain
