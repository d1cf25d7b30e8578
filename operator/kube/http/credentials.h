#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "operator/kube/http/secret.h"

namespace pstrain::kube {

/// A text given in place or by the path of a file that is read again as it changes. Data wins.
struct TextSource {
  std::string data;
  std::string file;

  bool empty() const { return data.empty() && file.empty(); }
};

/// Where the apiserver is and how we show who we are: what in-cluster files or a kubeconfig say.
struct ConnectionConfig {
  std::string server = {};  // "https://host:port" with an optional path; no IPv6 literal
  TextSource ca = {};       // PEM; empty: the system's store
  TextSource token = {};
  TextSource client_certificate = {};  // PEM
  TextSource client_key = {};          // PEM
  std::string default_namespace = "default";
};

/// The files of a pod's service account. Needs host and port of the service: the values of
/// KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, handed in by main.
/// FAILED_PRECONDITION when either is empty or a file is missing: not in a pod.
/// Source: kubernetes.io, "Accessing the Kubernetes API from a Pod".
Result<ConnectionConfig> InClusterConfig(
    const std::string& service_host, const std::string& service_port,
    const std::string& directory = "/var/run/secrets/kubernetes.io/serviceaccount");

/// What a new TLS connection needs, PEM.
struct TlsMaterial {
  std::string ca;
  std::string client_certificate;
  Secret client_key;
};

/// Reads tokens and TLS files again as they are rotated. Owned by main; any thread.
///
/// A token file is read at most once a minute (the kubelet renews at 80 % of a token's life); when
/// it cannot be read the last token stays. Certificates are read for each new connection.
class Credentials {
 public:
  Credentials(ConnectionConfig config, const Clock& clock);
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  const std::string& server() const { return config_.server; }
  const std::string& default_namespace() const { return config_.default_namespace; }

  /// The token of now; an empty one when none is configured. An error names the file: it was never
  /// readable, or it is empty.
  Result<Secret> Token() PSTRAIN_EXCLUDES(mutex_);

  /// The server refused the token (401): the next Token() reads the file. Whether that may help.
  bool DropToken() PSTRAIN_EXCLUDES(mutex_);

  /// The files of now. An error names the file.
  Result<TlsMaterial> ReadTls() const;

 private:
  const ConnectionConfig config_;
  const Clock& clock_;
  Mutex mutex_;
  Secret token_ PSTRAIN_GUARDED_BY(mutex_);
  std::optional<std::chrono::nanoseconds> token_read_at_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::kube
