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
  std::string kubeconfig = {};  // empty: see Surroundings
  std::string context = {};
  std::string name_space = {};
};

/// Where a command finds its cluster when its options do not say. A value.
struct Surroundings {
  std::string kubeconfig = {};  // KUBECONFIG
  std::string home = {};        // HOME: the default is .kube/config in it
  /// Of the Service of the apiserver, where this is a pod.
  std::string service_host = {};
  std::string service_port = {};
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";

  /// Those of this process. Any thread while none changes the environment.
  static Surroundings OfProcess();
};

/// The kubeconfig that was named; else ~/.kube/config; else, in a pod, its service account. Sends
/// nothing. kExitNoKubeconfig with file and field in words. Reads files; any thread.
std::variant<kube::ConnectionConfig, Problem> ChooseConfig(const Target& target,
                                                           const Surroundings& surroundings);

/// The way to one cluster. Made by the main thread before any other thread exists; then any thread.
class Connection {
 public:
  /// Reads the configuration and sends nothing. Errors as ChooseConfig.
  static std::variant<std::unique_ptr<Connection>, Problem> Open(const Target& target);

  kube::ApiClient& client() { return *client_; }
  kube::Pause& pause() { return pause_; }
  const Clock& clock() const { return clock_; }
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
