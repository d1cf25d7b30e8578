#pragma once

#include <memory>
#include <string>
#include <variant>

#include "base/clock.h"
#include "cli/cluster/problem.h"
#include "operator/kube/api_client.h"
#include "operator/kube/http/auth_transport.h"
#include "operator/kube/http/cpprest_transport.h"
#include "operator/kube/http/credentials.h"

namespace pstrain::cluster {

/// Which cluster and namespace a command is about, as its options say.
struct Target {
  std::string kubeconfig = {};  // empty: KUBECONFIG, else ~/.kube/config
  std::string context = {};
  std::string name_space = {};
};

/// The way to one cluster. Made by the main thread before any other thread exists; then one thread.
class Connection {
 public:
  /// Reads the kubeconfig and sends nothing. kExitNoKubeconfig with file and field in words.
  static std::variant<std::unique_ptr<Connection>, Problem> Open(const Target& target);

  kube::ApiClient& client() { return *client_; }
  kube::Pause& pause() { return pause_; }
  const std::string& name_space() const { return credentials_.default_namespace(); }

 private:
  explicit Connection(kube::ConnectionConfig config);

  const RealClock clock_;
  kube::RealPause pause_;
  kube::Credentials credentials_;
  kube::RateLimiter limiter_;
  std::unique_ptr<kube::CpprestTransport> transport_;
  std::unique_ptr<kube::AuthTransport> authorized_;
  std::unique_ptr<kube::ApiClient> client_;
};

}  // namespace pstrain::cluster
