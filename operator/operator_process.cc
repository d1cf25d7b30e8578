#include "operator/operator_process.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/metrics/admin_server.h"
#include "base/metrics/process_metrics.h"
#include "base/random.h"
#include "base/text/hex.h"
#include "operator/controller/controller.h"
#include "operator/controller/health.h"
#include "operator/controller/informer.h"
#include "operator/controller/leader_elector.h"
#include "operator/job/metric_definitions.h"
#include "operator/job_controller.h"
#include "operator/kube/client_metrics.h"
#include "operator/kube/http/auth_transport.h"
#include "operator/kube/http/cpprest_transport.h"
#include "operator/kube/http/kubeconfig.h"
#include "operator/metrics_access.h"

namespace pstrain {
namespace {

/// Two of them fit into the time that a connection of the admin server has.
constexpr std::chrono::seconds kReviewTimeout{2};

std::string Env(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// The pod's name, which is its host name, and a part that no earlier process had.
std::string Identity() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return std::string(host.data()) + "_" + ToHex(RandomSeed());
}

/// Connections to the apiserver and what bounds them.
class ApiAccess {
 public:
  static Result<std::unique_ptr<ApiAccess>> Create(const OperatorOptions& options,
                                                   const kube::ConnectionConfig& connection) {
    auto access = std::unique_ptr<ApiAccess>(new ApiAccess(options, connection));
    kube::CpprestTransport::Options transport;
    transport.user_agent = "pstrain-operator/" PSTRAIN_VERSION;
    PSTRAIN_ASSIGN_OR_RETURN(access->transport_, kube::CpprestTransport::Create(
                                                     access->credentials_, std::move(transport)));
    access->authorized_ =
        std::make_unique<kube::AuthTransport>(*access->transport_, access->credentials_);
    kube::ApiClient::Options normal;
    normal.metrics = &access->metrics_;
    kube::ApiClient::Options lease = normal;
    lease.lane = kube::Lane::kLease;
    lease.retries = 0;  // the elector tries again by its own clock
    lease.request_timeout = options.renew_deadline / 2;
    kube::ApiClient::Options reviews = normal;
    reviews.retries = 0;
    reviews.request_timeout = kReviewTimeout;
    access->review_client_ = std::make_unique<kube::ApiClient>(
        *access->authorized_, access->limiter_, access->pause_, reviews);
    access->client_ = std::make_unique<kube::ApiClient>(*access->authorized_, access->limiter_,
                                                        access->pause_, normal);
    access->lease_client_ = std::make_unique<kube::ApiClient>(
        *access->authorized_, access->limiter_, access->pause_, lease);
    return access;
  }

  kube::ApiClient& client() { return *client_; }
  kube::ApiClient& lease_client() { return *lease_client_; }
  /// For questions that a client of the metrics waits for.
  kube::ApiClient& review_client() { return *review_client_; }
  kube::Pause& pause() { return pause_; }
  const kube::ClientMetrics& metrics() const { return metrics_; }
  const std::string& default_namespace() const { return credentials_.default_namespace(); }

 private:
  ApiAccess(const OperatorOptions& options, const kube::ConnectionConfig& connection)
      : credentials_(connection, clock_),
        limiter_({.per_second = options.api_qps,
                  .burst = options.api_burst,
                  .permits = options.api_calls,
                  .lease_permits = 2}),
        metrics_(connection.server) {}

  const RealClock clock_;
  kube::RealPause pause_;
  kube::Credentials credentials_;
  kube::RateLimiter limiter_;
  kube::ClientMetrics metrics_;
  std::unique_ptr<kube::CpprestTransport> transport_;
  std::unique_ptr<kube::AuthTransport> authorized_;
  std::unique_ptr<kube::ApiClient> client_;
  std::unique_ptr<kube::ApiClient> lease_client_;
  std::unique_ptr<kube::ApiClient> review_client_;
};

Result<std::unique_ptr<AdminServer>> Serve(const std::string& address, std::uint16_t port,
                                           const MetricsRegistry* metrics,
                                           const kube::HealthChecks* alive,
                                           const kube::HealthChecks* ready, AccessCheck access) {
  AdminServer::Options options;
  options.address = address;
  options.port = port;
  options.metrics = metrics;
  options.access = std::move(access);
  if (alive != nullptr) options.healthy = [alive] { return alive->Check(); };
  if (ready != nullptr) options.ready = [ready] { return ready->Check(); };
  return AdminServer::Start(std::move(options));
}

MetricFamily BuildInfo() {
  MetricFamily family = FamilyOf(job::metrics::kBuildInfo);
  MetricSample& sample = family.samples.emplace_back();
  sample.labels = {{"version", PSTRAIN_VERSION}, {"compiler", __VERSION__}};
  sample.value = 1;
  return family;
}

}  // namespace

Result<kube::ConnectionConfig> FindApiServer(const OperatorOptions& options) {
  const std::string files = options.kubeconfig.empty() ? Env("KUBECONFIG") : options.kubeconfig;
  if (!files.empty()) {
    return kube::LoadKubeconfig(kube::KubeconfigFiles(files),
                                {.context = options.context, .namespace_name = {}});
  }
  auto in_cluster =
      kube::InClusterConfig(Env("KUBERNETES_SERVICE_HOST"), Env("KUBERNETES_SERVICE_PORT"));
  if (!in_cluster.ok()) {
    return in_cluster.status().WithContext(
        "no apiserver: give --kubeconfig, set KUBECONFIG or run in a pod");
  }
  return in_cluster;
}

Status RunOperator(const OperatorOptions& options, const kube::ConnectionConfig& connection,
                   const std::stop_token& stop) {
  const RealClock clock;
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<ApiAccess> api,
                           ApiAccess::Create(options, connection));
  const std::string identity = Identity();
  JobController jobs(api->client(), api->pause(), clock, options, identity);
  kube::LeaderElector elector(api->lease_client(), api->pause(), clock,
                              {.lease = {.name_space = options.leader_election_namespace.empty()
                                                           ? api->default_namespace()
                                                           : options.leader_election_namespace,
                                         .name = options.leader_election_id},
                               .identity = identity,
                               .lease_duration = options.lease_duration,
                               .renew_deadline = options.renew_deadline,
                               .retry_period = options.retry_period,
                               .seed = RandomSeed()});
  MetricsRegistry metrics;
  metrics.Register([&] { return jobs.Collect(); });
  metrics.Register([&] { return api->metrics().Collect(); });
  metrics.Register([&] { return elector.Collect(); });
  metrics.Register([] { return std::vector{BuildInfo()}; });
  metrics.Register([] { return CollectProcessMetrics(); });
  kube::HealthChecks alive;
  alive.Add("leader-election", [&elector] { return elector.Healthy(); });
  kube::HealthChecks ready;
  ready.Add("caches", [&jobs] { return jobs.CheckSynced(); });
  MetricsAccess metrics_access(api->review_client(), clock);
  AccessCheck access;
  if (options.metrics_authorization) {
    access = [&metrics_access](const HttpRequest& request) {
      return metrics_access.Check(request);
    };
  }
  const auto metrics_server =
      Serve(options.metrics_address, options.metrics_port, &metrics, nullptr, nullptr, access);
  if (!metrics_server.ok()) return metrics_server.status().WithContext("--metrics-bind-address");
  const auto health_server =
      Serve(options.health_address, options.health_port, nullptr, &alive, &ready, nullptr);
  if (!health_server.ok()) {
    return health_server.status().WithContext("--health-probe-bind-address");
  }
  LogInfo("operator", "started",
          {{"identity", identity},
           {"server", connection.server},
           {"namespace", options.name_space.empty() ? "*" : options.name_space}});
  const auto lead = [&jobs](const std::stop_token& end) { jobs.Run(end); };
  Status ended;
  if (options.leader_elect) {
    ended = elector.Run(lead, stop);
  } else {
    lead(stop);
  }
  // After the Lease is free: the next leader need not wait until all events are written.
  jobs.DrainEvents();
  return ended;
}

}  // namespace pstrain
