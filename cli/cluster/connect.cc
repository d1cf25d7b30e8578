#include "cli/cluster/connect.h"

#include <cstdlib>
#include <utility>

#include "base/os/files.h"
#include "operator/kube/http/kubeconfig.h"

namespace pstrain::cluster {
namespace {

std::string Env(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

kube::ConnectionConfig InNamespace(kube::ConnectionConfig config, const std::string& name_space) {
  if (!name_space.empty()) config.default_namespace = name_space;
  return config;
}

}  // namespace

Surroundings Surroundings::OfProcess() {
  return {.kubeconfig = Env("KUBECONFIG"),
          .home = Env("HOME"),
          .service_host = Env("KUBERNETES_SERVICE_HOST"),
          .service_port = Env("KUBERNETES_SERVICE_PORT")};
}

std::variant<kube::ConnectionConfig, Problem> ChooseConfig(const Target& target,
                                                           const Surroundings& surroundings) {
  std::string files = target.kubeconfig.empty() ? surroundings.kubeconfig : target.kubeconfig;
  const bool named = !files.empty();
  if (!named) files = JoinPath(surroundings.home, ".kube/config");
  std::string none_here;
  if (!named && target.context.empty() && !FileExists(files)) {
    auto own = kube::InClusterConfig(surroundings.service_host, surroundings.service_port,
                                     surroundings.service_account);
    if (own.ok()) return InNamespace(std::move(own).value(), target.name_space);
    none_here = "; and " + own.status().message();
  }
  auto config =
      kube::LoadKubeconfig(kube::KubeconfigFiles(files),
                           {.context = target.context, .namespace_name = target.name_space});
  if (config.ok()) return std::move(config).value();
  if (config.status().code() == StatusCode::kNotFound) {
    return Problem{kExitNoKubeconfig, "no kubeconfig to use (" + config.status().message() +
                                          none_here +
                                          "); give --kubeconfig FILE, set KUBECONFIG, or choose "
                                          "a --context that it has"};
  }
  return Problem{kExitNoKubeconfig, "the kubeconfig " + files + " cannot be used (" +
                                        config.status().message() +
                                        "); correct it, or choose another with --kubeconfig or "
                                        "--context"};
}

Connection::Connection(kube::ConnectionConfig config)
    : credentials_(std::move(config), clock_), limiter_({}) {}

std::variant<std::unique_ptr<Connection>, Problem> Connection::Open(const Target& target) {
  auto config = ChooseConfig(target, Surroundings::OfProcess());
  if (auto* problem = std::get_if<Problem>(&config)) return std::move(*problem);
  kube::PrepareCpprest();
  std::unique_ptr<Connection> connection(
      new Connection(std::get<kube::ConnectionConfig>(std::move(config))));
  auto transport =
      kube::CpprestTransport::Create(connection->credentials_, {.user_agent = "pstrain"});
  if (!transport.ok()) {
    return Problem{kExitNoKubeconfig, "the cluster of the kubeconfig cannot be used (" +
                                          transport.status().message() +
                                          "); correct its server, or choose another --context"};
  }
  connection->transport_ = std::move(transport).value();
  connection->authorized_ =
      std::make_unique<kube::AuthTransport>(*connection->transport_, connection->credentials_);
  // A person waits.
  kube::ApiClient::Options options;
  options.retries = 1;
  connection->client_ = std::make_unique<kube::ApiClient>(
      *connection->authorized_, connection->limiter_, connection->pause_, options);
  return connection;
}

}  // namespace pstrain::cluster
