#include "runtime/rpc/grpc/tls.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <functional>
#include <utility>

#include "base/os/files.h"

namespace pstrain {
namespace {

namespace tls = grpc::experimental;

/// Asked when the chain is good.
class DomainVerifier final : public tls::ExternalCertificateVerifier {
 public:
  explicit DomainVerifier(std::string domain) : domain_(std::move(domain)) {}

  bool Verify(tls::TlsCustomVerificationCheckRequest* request,
              std::function<void(grpc::Status)> /*callback*/, grpc::Status* status) override {
    for (const grpc::string_ref& name : request->dns_names()) {
      if (IsNameOfDomain({name.data(), name.size()}, domain_)) return true;
    }
    *status = {grpc::StatusCode::UNAUTHENTICATED,
               "the peer's certificate has no DNS name of " + domain_};
    return true;
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest* /*request*/) override {}

 private:
  const std::string domain_;
};

std::shared_ptr<tls::CertificateVerifier> VerifierOf([[maybe_unused]] const std::string& domain) {
#ifdef __clang_analyzer__
  // It does not see that gRPC deletes the verifier, and reports a leak in gRPC's header.
  return nullptr;
#else
  return tls::ExternalCertificateVerifier::Create<DomainVerifier>(domain);
#endif
}

void Watch(const TlsSettings& settings,
           const std::shared_ptr<tls::CertificateProviderInterface>& files,
           tls::TlsCredentialsOptions& options) {
  options.set_certificate_provider(files);
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_certificate_verifier(VerifierOf(settings.domain));
}

}  // namespace

bool IsNameOfDomain(std::string_view name, std::string_view domain) {
  const std::size_t dot = name.find('.');
  return dot != name.npos && dot > 0 && name.substr(dot + 1) == domain;
}

Result<std::shared_ptr<const MutualTls>> MutualTls::Open(const TlsSettings& settings) {
  const auto file = [&settings](const char* name) { return JoinPath(settings.folder, name); };
  // gRPC would say it with each connection, and in its own log.
  for (const char* name : {"tls.crt", "tls.key", "ca.crt"}) {
    PSTRAIN_RETURN_IF_ERROR(ReadFile(file(name)).status());
  }
  // One for both ends: each has a thread that looks at the files.
  const std::shared_ptr<tls::CertificateProviderInterface> files =
      std::make_shared<tls::FileWatcherCertificateProvider>(
          file("tls.key"), file("tls.crt"), file("ca.crt"),
          static_cast<unsigned>(settings.read_again.count()));
  tls::TlsChannelCredentialsOptions channel;
  Watch(settings, files, channel);
  channel.set_verify_server_certs(true);
  // That is the address; see above.
  channel.set_check_call_host(false);
  tls::TlsServerCredentialsOptions server(files);
  Watch(settings, files, server);
  server.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  std::shared_ptr<MutualTls> made(new MutualTls);
  made->channel_ = tls::TlsCredentials(channel);
  made->server_name_ = "replica." + settings.domain;
  made->server_ = tls::TlsServerCredentials(server);
  return std::shared_ptr<const MutualTls>(std::move(made));
}

TlsCredentials::TlsCredentials(std::unique_ptr<Credentials> tokens, const MutualTls* tls)
    : tokens_(std::move(tokens)), tls_(tls) {}

Result<std::string> TlsCredentials::Token(Audience audience) const {
  return tokens_ == nullptr ? std::string() : tokens_->Token(audience);
}

}  // namespace pstrain
