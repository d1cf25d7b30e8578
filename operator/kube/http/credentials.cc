#include "operator/kube/http/credentials.h"

#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/os/files.h"

namespace pstrain::kube {
namespace {

// As client-go and kube-rs do; the kubelet leaves at least a fifth of a token's life for it.
constexpr std::chrono::seconds kTokenReadEvery{60};

std::string Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kSpace) - first + 1));
}

Result<std::string> ReadSource(const TextSource& source, std::string_view what) {
  if (!source.data.empty() || source.file.empty()) return source.data;
  Result<std::string> text = ReadFile(source.file);
  if (!text.ok()) return text.status().WithContext(what);
  if (Trim(*text).empty()) {
    return FailedPreconditionError(std::string(what) + ": " + source.file + " is empty");
  }
  return text;
}

}  // namespace

Result<ConnectionConfig> InClusterConfig(const std::string& service_host,
                                         const std::string& service_port,
                                         const std::string& directory) {
  if (service_host.empty() || service_port.empty()) {
    return FailedPreconditionError(
        "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: not in a pod; give a "
        "kubeconfig");
  }
  ConnectionConfig config;
  // The name is in the apiserver's certificate too, and an IPv6 address would not resolve.
  const bool ipv6 = service_host.find(':') != std::string::npos;
  config.server =
      "https://" + (ipv6 ? "kubernetes.default.svc" : service_host) + ":" + service_port;
  config.token.file = JoinPath(directory, "token");
  config.ca.file = JoinPath(directory, "ca.crt");
  for (const std::string& path : {config.token.file, config.ca.file}) {
    if (!FileExists(path)) {
      return FailedPreconditionError(path +
                                     " does not exist: the pod has no service account token "
                                     "(automountServiceAccountToken)");
    }
  }
  const auto name_space = ReadFile(JoinPath(directory, "namespace"));
  if (name_space.ok()) config.default_namespace = Trim(*name_space);
  return config;
}

Credentials::Credentials(ConnectionConfig config, const Clock& clock)
    : config_(std::move(config)),
      clock_(clock),
      exec_(config_.exec ? std::make_unique<ExecSource>(*config_.exec, clock) : nullptr) {}

Result<Secret> Credentials::Token() {
  if (exec_ != nullptr) {
    PSTRAIN_ASSIGN_OR_RETURN(ExecCredential credential, exec_->Get());
    return std::move(credential.token);
  }
  if (!config_.token.data.empty()) return Secret(config_.token.data);
  if (config_.token.file.empty()) return Secret();
  const std::chrono::nanoseconds now = clock_.Now();
  {
    const MutexLock lock(mutex_);
    if (token_read_at_ && now - *token_read_at_ < kTokenReadEvery) return token_;
  }
  const Result<std::string> text = ReadSource(config_.token, "token");
  const MutexLock lock(mutex_);
  if (!text.ok()) {
    if (token_.empty()) return text.status();
    LogWarning("kube", "cannot read the token file; keeping the last token",
               {{"error", text.status()}});
  } else {
    token_ = Secret(Trim(*text));
  }
  token_read_at_ = now;
  return token_;
}

bool Credentials::DropToken() {
  if (exec_ != nullptr) {
    exec_->Drop();
    return true;
  }
  if (!config_.token.data.empty() || config_.token.file.empty()) return false;
  const MutexLock lock(mutex_);
  token_read_at_.reset();
  return true;
}

int Credentials::CertificateNumber() const {
  return exec_ == nullptr ? 0 : exec_->CertificateNumber();
}

Result<TlsMaterial> Credentials::ReadTls() const {
  TlsMaterial material;
  PSTRAIN_ASSIGN_OR_RETURN(material.ca, ReadSource(config_.ca, "certificate authority"));
  PSTRAIN_ASSIGN_OR_RETURN(material.client_certificate,
                           ReadSource(config_.client_certificate, "client certificate"));
  PSTRAIN_ASSIGN_OR_RETURN(std::string key, ReadSource(config_.client_key, "client key"));
  material.client_key = Secret(std::move(key));
  if (exec_ != nullptr) {
    ExecCredential given = exec_->Last();
    material.client_certificate = std::move(given.certificate);
    material.client_key = std::move(given.key);
  }
  return material;
}

}  // namespace pstrain::kube
