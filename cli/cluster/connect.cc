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

std::string FilesOf(const Target& target) {
  if (!target.kubeconfig.empty()) return target.kubeconfig;
  std::string files = Env("KUBECONFIG");
  if (files.empty()) files = JoinPath(Env("HOME"), ".kube/config");
  return files;
}

}  // namespace

Connection::Connection(kube::ConnectionConfig config)
    : credentials_(std::move(config), clock_), limiter_({}) {}

std::variant<std::unique_ptr<Connection>, Problem> Connection::Open(const Target& target) {
  const std::string files = FilesOf(target);
  auto config =
      kube::LoadKubeconfig(kube::KubeconfigFiles(files),
                           {.context = target.context, .namespace_name = target.name_space});
  if (config.status().code() == StatusCode::kNotFound) {
    return Problem{kExitNoKubeconfig, "no kubeconfig to use (" + config.status().message() +
                                          "); give --kubeconfig FILE, set KUBECONFIG, or choose "
                                          "a --context that it has"};
  }
  if (!config.ok()) {
    return Problem{kExitNoKubeconfig, "the kubeconfig " + files + " cannot be used (" +
                                          config.status().message() +
                                          "); correct it, or choose another with --kubeconfig or "
                                          "--context"};
  }
  kube::PrepareCpprest();
  std::unique_ptr<Connection> connection(new Connection(std::move(config).value()));
  auto transport =
      kube::CpprestTransport::Create(connection->credentials_, {.user_agent = "pstrain"});
  if (!transport.ok()) {
    return Problem{kExitNoKubeconfig, "the kubeconfig " + files + " cannot be used (" +
                                          transport.status().message() + "); correct its server"};
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
