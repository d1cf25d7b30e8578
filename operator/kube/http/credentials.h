#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "operator/kube/http/exec_credential.h"
#include "operator/kube/http/exec_source.h"
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
  /// Asked for a token or certificate in place of those above.
  std::optional<ExecPlugin> exec = {};
  /// What the server's certificate must be for, where that is not the host of `server`. It is sent
  /// as the Host of requests too.
  std::string tls_server_name = {};
  /// Whoever answers is taken for the server.
  bool insecure_skip_tls_verify = false;
  /// "http://[USER:PASSWORD@]HOST:PORT" of a proxy that connects us (CONNECT); empty: none.
  Secret proxy_url = {};
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
  const std::string& tls_server_name() const { return config_.tls_server_name; }
  bool insecure_skip_tls_verify() const { return config_.insecure_skip_tls_verify; }
  const Secret& proxy_url() const { return config_.proxy_url; }
  const std::string& default_namespace() const { return config_.default_namespace; }

  /// The token of now; an empty one when none is configured. An error names the file: it was never
  /// readable, or it is empty; or it is UNAUTHENTICATED: a credential plugin has given none.
  Result<Secret> Token() PSTRAIN_EXCLUDES(mutex_);

  /// The server refused the token (401): the next Token() reads the file, or asks the plugin.
  /// Whether that may help.
  bool DropToken() PSTRAIN_EXCLUDES(mutex_);

  /// The files of now, and what Token() has got of a plugin. An error names the file.
  Result<TlsMaterial> ReadTls() const;

  /// Changes when connections that are open show a client certificate that was replaced.
  int CertificateNumber() const;

 private:
  const ConnectionConfig config_;
  const Clock& clock_;
  std::unique_ptr<ExecSource> exec_;  // null: no plugin
  Mutex mutex_;
  Secret token_ PSTRAIN_GUARDED_BY(mutex_);
  std::optional<std::chrono::nanoseconds> token_read_at_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::kube
