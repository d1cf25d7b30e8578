#include "operator/kube/http/tls_context.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace pstrain::kube {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

Owned<BIO> Reader(const std::string& pem) {
  return Owned<BIO>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

Owned<X509> NextCertificate(BIO* reader) {
  return Owned<X509>(PEM_read_bio_X509(reader, nullptr, nullptr, nullptr));
}

Status NotPem(const char* what) {
  ERR_clear_error();
  return InvalidArgumentError(std::string(what) + ": is not PEM or does not fit the others");
}

Status TrustExactly(SSL_CTX* context, const std::string& pem) {
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  const Owned<BIO> reader = Reader(pem);
  int added = 0;
  while (const Owned<X509> certificate = NextCertificate(reader.get())) {
    if (X509_STORE_add_cert(store, certificate.get()) != 1) break;
    ++added;
  }
  if (added == 0) return NotPem("certificate authority");
  ERR_clear_error();  // the end of the text counts as an error there
  return OkStatus();
}

Status PresentCertificate(SSL_CTX* context, const TlsMaterial& material) {
  const Owned<BIO> chain = Reader(material.client_certificate);
  const Owned<X509> own = NextCertificate(chain.get());
  if (!own || SSL_CTX_use_certificate(context, own.get()) != 1) return NotPem("client certificate");
  while (const Owned<X509> next = NextCertificate(chain.get())) {
    if (SSL_CTX_add1_chain_cert(context, next.get()) != 1) return NotPem("client certificate");
  }
  ERR_clear_error();
  const Owned<BIO> reader = Reader(material.client_key.Reveal());
  const Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(reader.get(), nullptr, nullptr, nullptr));
  if (!key || SSL_CTX_use_PrivateKey(context, key.get()) != 1) return NotPem("client key");
  return OkStatus();
}

}  // namespace

void TrustNothing(SSL_CTX* context) { SSL_CTX_set_cert_store(context, X509_STORE_new()); }

Status ConfigureTls(SSL_CTX* context, const TlsMaterial& material) {
  TrustNothing(context);
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  if (!material.client_certificate.empty()) {
    PSTRAIN_RETURN_IF_ERROR(PresentCertificate(context, material));
  }
  if (!material.ca.empty()) return TrustExactly(context, material.ca);
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  if (X509_STORE_load_path(store, X509_get_default_cert_dir()) != 1) {
    return NotPem("the system's certificates");
  }
  return OkStatus();
}

}  // namespace pstrain::kube
