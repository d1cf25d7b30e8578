#include "tests/testing/test_certificates.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace pstrain::testing {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

void Check(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "test_certificates: %s failed\n", what);
  std::abort();
}

std::string Text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

void AddExtension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Owned<X509_EXTENSION> extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  Check(extension != nullptr, value);
  X509_add_ext(certificate, extension.get(), -1);
}

TestCertificate Make(const std::string& common_name, const TestCertificate* authority,
                     const std::string& names) {
  static std::atomic<long> serial{1};
  constexpr long kDaySeconds = 24 * 60 * 60;
  const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  Check(key != nullptr, "EVP_EC_gen");
  const Owned<X509> certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial.fetch_add(1));
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kDaySeconds);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kDaySeconds);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  Owned<X509> issuer;
  Owned<EVP_PKEY> issuer_key;
  if (authority != nullptr) {
    const Owned<BIO> pem(BIO_new_mem_buf(authority->certificate.data(),
                                         static_cast<int>(authority->certificate.size())));
    issuer.reset(PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr));
    const Owned<BIO> key_pem(
        BIO_new_mem_buf(authority->key.data(), static_cast<int>(authority->key.size())));
    issuer_key.reset(PEM_read_bio_PrivateKey(key_pem.get(), nullptr, nullptr, nullptr));
    Check(issuer != nullptr && issuer_key != nullptr, "reading the authority");
    X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer.get()));
    AddExtension(certificate.get(), issuer.get(), NID_subject_alt_name, names.c_str());
  } else {
    X509_set_issuer_name(certificate.get(), name);
    AddExtension(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  }
  EVP_PKEY* signer = issuer_key ? issuer_key.get() : key.get();
  Check(X509_sign(certificate.get(), signer, EVP_sha256()) != 0, "X509_sign");
  const Owned<BIO> out(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(out.get(), certificate.get());
  const Owned<BIO> key_out(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(key_out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return {Text(out.get()), Text(key_out.get())};
}

}  // namespace

TestCertificate MakeAuthority(const std::string& common_name) {
  return Make(common_name, nullptr, {});
}

TestCertificate IssueCertificate(const TestCertificate& authority, const std::string& common_name,
                                 const std::string& names) {
  return Make(common_name, &authority, names);
}

}  // namespace pstrain::testing
