#include "tests/testing/tls_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <memory>

#include "base/os/unique_fd.h"

namespace pstrain::testing {
namespace {

constexpr long kLimitSeconds = 30;

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

Owned<BIO> Read(const std::string& pem) {
  return Owned<BIO>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

int NumberOf(TlsVersion version) {
  switch (version) {
    case TlsVersion::k11:
      return TLS1_1_VERSION;
    case TlsVersion::k12:
      return TLS1_2_VERSION;
    case TlsVersion::k13:
      return TLS1_3_VERSION;
  }
  return 0;
}

std::string LastError() {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_peek_last_error(), text.data(), text.size());
  return text.data();
}

Owned<SSL_CTX> MakeContext(const TestCertificate& own, TlsVersion newest) {
  Owned<SSL_CTX> context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_security_level(context.get(), 0);
  SSL_CTX_set_cipher_list(context.get(), "ALL:@SECLEVEL=0");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(context.get(), NumberOf(newest));
  constexpr std::array<unsigned char, 3> kHttp2 = {2, 'h', '2'};
  SSL_CTX_set_alpn_protos(context.get(), kHttp2.data(), unsigned{kHttp2.size()});
  const Owned<X509> certificate(
      PEM_read_bio_X509(Read(own.certificate).get(), nullptr, nullptr, nullptr));
  const Owned<EVP_PKEY> key(
      PEM_read_bio_PrivateKey(Read(own.key).get(), nullptr, nullptr, nullptr));
  SSL_CTX_use_certificate(context.get(), certificate.get());
  SSL_CTX_use_PrivateKey(context.get(), key.get());
  return context;
}

}  // namespace

TlsHandshake ShakeHands(std::uint16_t port, const TestCertificate& own, TlsVersion newest) {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval limit{.tv_sec = kLimitSeconds, .tv_usec = 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return {.version = "", .error = "nobody listens there", .offered = false};
  }
  const Owned<SSL_CTX> context = MakeContext(own, newest);
  const Owned<SSL> ssl(SSL_new(context.get()));
  SSL_set_fd(ssl.get(), fd.get());
  ERR_clear_error();
  TlsHandshake handshake;
  if (SSL_connect(ssl.get()) == 1) {
    handshake.version = SSL_get_version(ssl.get());
  } else {
    handshake.error = LastError();
  }
  handshake.offered = BIO_number_written(SSL_get_wbio(ssl.get())) > 0;
  return handshake;
}

}  // namespace pstrain::testing
