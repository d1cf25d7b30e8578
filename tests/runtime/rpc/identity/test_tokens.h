#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/rpc/identity/base64url.h"

namespace pstrain::identity_test {

/// A private key with the two things that a test needs of it: its JWK and signatures. Tests alone;
/// one thread.
class SigningKey {
 public:
  static SigningKey Rsa(std::string id, unsigned bits = 2048) {
    return {std::move(id), "RS256", EVP_RSA_gen(bits)};
  }
  static SigningKey Ec(std::string id) { return {std::move(id), "ES256", EVP_EC_gen("P-256")}; }

  std::string Jwk() const {
    const std::string head = R"({"kid":")" + id_ + R"(","use":"sig","alg":")" + algorithm_ + "\",";
    if (algorithm_ == "RS256") {
      return head + R"("kty":"RSA","n":")" + Number(OSSL_PKEY_PARAM_RSA_N, 0) + R"(","e":")" +
             Number(OSSL_PKEY_PARAM_RSA_E, 0) + "\"}";
    }
    return head + R"("kty":"EC","crv":"P-256","x":")" + Number(OSSL_PKEY_PARAM_EC_PUB_X, 32) +
           R"(","y":")" + Number(OSSL_PKEY_PARAM_EC_PUB_Y, 32) + "\"}";
  }

  /// The public key as OpenSSL writes it.
  std::string Pem() const {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PUBKEY(bio, key_.get());
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio, &text);
    std::string pem(text, static_cast<std::size_t>(size));
    BIO_free(bio);
    return pem;
  }
  /// The same key by another name.
  SigningKey Renamed(std::string id) const {
    SigningKey key = *this;
    key.id_ = std::move(id);
    return key;
  }

  /// A token with these claims.
  std::string Token(std::string_view claims) const {
    const std::string header = R"({"alg":")" + algorithm_ + R"(","kid":")" + id_ + "\"}";
    const std::string part = ToBase64Url(header) + "." + ToBase64Url(claims);
    return part + "." + ToBase64Url(Signature(part));
  }

 private:
  SigningKey(std::string id, std::string algorithm, EVP_PKEY* key)
      : id_(std::move(id)), algorithm_(std::move(algorithm)), key_(key, EVP_PKEY_free) {}

  std::string Number(const char* name, int size) const {
    BIGNUM* number = nullptr;
    EVP_PKEY_get_bn_param(key_.get(), name, &number);
    std::string bytes(static_cast<std::size_t>(size > 0 ? size : BN_num_bytes(number)), '\0');
    BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()),
                 static_cast<int>(bytes.size()));
    BN_free(number);
    return ToBase64Url(bytes);
  }

  std::string Signature(std::string_view text) const {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    EVP_DigestSignInit(context, nullptr, EVP_sha256(), nullptr, key_.get());
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    std::size_t size = 0;
    EVP_DigestSign(context, nullptr, &size, bytes, text.size());
    std::string signature(size, '\0');
    auto* out = reinterpret_cast<unsigned char*>(signature.data());
    EVP_DigestSign(context, out, &size, bytes, text.size());
    EVP_MD_CTX_free(context);
    signature.resize(size);
    return algorithm_ == "RS256" ? signature : ToJose(signature);
  }

  static std::string ToJose(const std::string& der) {
    const auto* at = reinterpret_cast<const unsigned char*>(der.data());
    ECDSA_SIG* pair = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()));
    std::string both(64, '\0');
    auto* out = reinterpret_cast<unsigned char*>(both.data());
    BN_bn2binpad(ECDSA_SIG_get0_r(pair), out, 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(pair), out + 32, 32);
    ECDSA_SIG_free(pair);
    return both;
  }

  std::string id_;
  std::string algorithm_;
  std::shared_ptr<EVP_PKEY> key_;
};

/// What a projected token of a pod says.
struct Claims {
  std::string issuer = "https://cluster";
  std::string audience = "pstrain.dev/uid-1/ps";
  std::int64_t expires = 5000;
  std::int64_t not_before = 0;
  std::string name_space = "n";
  std::string pod = "job-worker-0";
  std::string uid = "pod-1";

  std::string Text() const {
    return R"({"iss":")" + issuer + R"(","aud":[")" + audience + R"("],"exp":)" +
           std::to_string(expires) + R"(,"nbf":)" + std::to_string(not_before) +
           R"(,"kubernetes.io":{"namespace":")" + name_space + R"(","pod":{"name":")" + pod +
           R"(","uid":")" + uid + R"("}}})";
  }
};

}  // namespace pstrain::identity_test
