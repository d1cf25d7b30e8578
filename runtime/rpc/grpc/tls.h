#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "runtime/rpc/identity/caller.h"

namespace grpc {
class ChannelCredentials;
class ServerCredentials;
}  // namespace grpc

namespace pstrain {

/// Where a process' certificate is, and whose certificates it takes.
struct TlsSettings {
  /// Has `tls.crt`, `tls.key` and `ca.crt`, as cert-manager writes them into a Secret.
  std::string folder;
  /// "<job>.<namespace>.svc": a peer's certificate has a DNS name of it (IsNameOfDomain).
  std::string domain;
  /// How often the files are looked at: the kubelet replaces them.
  std::chrono::seconds read_again{10};
};

/// Both ends of mutual TLS between the replicas of one job (gRPC's TlsCredentials; TLS 1.2 or
/// newer): each shows the certificate of the folder, and takes only those that its `ca.crt` has
/// signed and that name the job. The name is checked against the job and not against the address:
/// the chief is called by each address behind its name, and which replica a caller is, its token
/// says. New connections use the files as they are; those that are open stay. Any thread; outlives
/// the channels and servers.
class MutualTls {
 public:
  /// The error names the file that cannot be read.
  static Result<std::shared_ptr<const MutualTls>> Open(const TlsSettings& settings);

  const std::shared_ptr<grpc::ChannelCredentials>& channel() const { return channel_; }
  const std::shared_ptr<grpc::ServerCredentials>& server() const { return server_; }
  /// For channels: gRPC logs an error for each connection whose certificate does not have the name
  /// that it was looked for, which would be the address.
  const std::string& server_name() const { return server_name_; }

 private:
  MutualTls() = default;

  std::shared_ptr<grpc::ChannelCredentials> channel_;
  std::shared_ptr<grpc::ServerCredentials> server_;
  std::string server_name_;
};

/// What a process shows whose connections are encrypted. Any thread.
class TlsCredentials final : public Credentials {
 public:
  /// `tokens`: null where replicas show none. `tls` is not owned.
  TlsCredentials(std::unique_ptr<Credentials> tokens, const MutualTls* tls);
  Result<std::string> Token(Audience audience) const override;
  const MutualTls* tls() const override { return tls_; }
  bool OthersRenew() const override { return tokens_ != nullptr && tokens_->OthersRenew(); }
  std::optional<std::int64_t> Expires() const override {
    return tokens_ == nullptr ? std::nullopt : tokens_->Expires();
  }

 private:
  const std::unique_ptr<Credentials> tokens_;
  const MutualTls* const tls_;
};

/// "<label>.<domain>", where the label may be "*". Pure.
bool IsNameOfDomain(std::string_view name, std::string_view domain);

}  // namespace pstrain
