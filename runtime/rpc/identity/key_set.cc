#include "runtime/rpc/identity/key_set.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/text/json.h"
#include "runtime/rpc/identity/base64url.h"
#include "runtime/rpc/identity/unauthenticated.h"

namespace pstrain {
namespace {

constexpr std::string_view kHmac = "HS256";
constexpr std::string_view kRsa = "RS256";
constexpr std::string_view kEc = "ES256";
/// Of RSA: smaller ones are not safe, and none of ours is.
constexpr int kLeastRsaBits = 2048;
/// A number of P-256.
constexpr std::size_t kEcNumber = 32;

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using ParamBuilder = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD_free>>;
using Params = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using EcSignature = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG_free>>;

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Number ToNumber(std::string_view bytes) {
  return Number(BN_bin2bn(Bytes(bytes), static_cast<int>(bytes.size()), nullptr));
}

/// Null when OpenSSL does not take the parameters.
std::shared_ptr<EVP_PKEY> MakeKey(const char* kind, OSSL_PARAM_BLD* builder) {
  const Params params(OSSL_PARAM_BLD_to_param(builder));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr));
  EVP_PKEY* key = nullptr;
  if (!params || !context || EVP_PKEY_fromdata_init(context.get()) <= 0 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, params.get()) <= 0) {
    return nullptr;
  }
  return {key, EVP_PKEY_free};
}

std::shared_ptr<EVP_PKEY> MakeRsaKey(std::string_view modulus, std::string_view exponent) {
  const Number n = ToNumber(modulus);
  const Number e = ToNumber(exponent);
  const ParamBuilder builder(OSSL_PARAM_BLD_new());
  if (!n || !e || !builder || BN_num_bits(n.get()) < kLeastRsaBits ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) <= 0 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) <= 0) {
    return nullptr;
  }
  return MakeKey("RSA", builder.get());
}

std::shared_ptr<EVP_PKEY> MakeEcKey(std::string_view x, std::string_view y) {
  if (x.size() != kEcNumber || y.size() != kEcNumber) return nullptr;
  // An uncompressed point (SEC 1, section 2.3.3).
  const std::string point = '\x04' + std::string(x) + std::string(y);
  const ParamBuilder builder(OSSL_PARAM_BLD_new());
  if (!builder ||
      OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) <= 0 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) <= 0) {
    return nullptr;
  }
  return MakeKey("EC", builder.get());
}

/// A member's text; empty when there is none.
std::string Member(const Json& json, const char* key) {
  const Json* member = json.Find(key);
  return member == nullptr || member->AsString() == nullptr ? std::string() : *member->AsString();
}

std::string Decoded(const Json& json, const char* key) {
  return FromBase64Url(Member(json, key)).value_or(std::string());
}

/// JOSE writes r and s one after the other, OpenSSL reads them as DER.
std::optional<std::string> EcSignatureToDer(std::string_view signature) {
  if (signature.size() != 2 * kEcNumber) return std::nullopt;
  const EcSignature pair(ECDSA_SIG_new());
  Number r = ToNumber(signature.substr(0, kEcNumber));
  Number s = ToNumber(signature.substr(kEcNumber));
  if (!pair || !r || !s || ECDSA_SIG_set0(pair.get(), r.get(), s.get()) <= 0) return std::nullopt;
  static_cast<void>(r.release());
  static_cast<void>(s.release());
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(pair.get(), &der);
  if (size <= 0) return std::nullopt;
  std::string text(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return text;
}

bool SignatureFits(EVP_PKEY* key, std::string_view signed_part, std::string_view signature) {
  const DigestContext context(EVP_MD_CTX_new());
  return context && EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), Bytes(signature), signature.size(), Bytes(signed_part),
                          signed_part.size()) == 1;
}

Status WrongSignature() { return UnauthenticatedError("the token's signature is wrong"); }

}  // namespace

std::string SignShared(std::string_view secret, std::string_view signed_part) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), Bytes(signed_part),
       signed_part.size(), digest.data(), &size);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

KeySet KeySet::Shared(std::string secret) {
  KeySet keys;
  keys.secret_ = std::move(secret);
  return keys;
}

Result<KeySet> KeySet::FromJwks(std::string_view json) {
  PSTRAIN_ASSIGN_OR_RETURN(const Json set, ParseJson(json, {.max_depth = 8, .max_bytes = 1 << 20}));
  const Json* list = set.Find("keys");
  if (list == nullptr || !list->is_array()) return InvalidArgumentError("a key set has no `keys`");
  KeySet keys;
  for (const Json& entry : list->items()) {
    const std::string kind = Member(entry, "kty");
    std::shared_ptr<EVP_PKEY> key;
    if (kind == "RSA") key = MakeRsaKey(Decoded(entry, "n"), Decoded(entry, "e"));
    if (kind == "EC") key = MakeEcKey(Decoded(entry, "x"), Decoded(entry, "y"));
    if (!key) continue;
    keys.keys_[Member(entry, "kid")] = {std::string(kind == "RSA" ? kRsa : kEc), std::move(key)};
  }
  if (keys.keys_.empty()) return InvalidArgumentError("a key set has no key for RS256 or ES256");
  return keys;
}

Status KeySet::Check(const Jwt& jwt) const {
  if (!secret_.empty()) {
    if (jwt.algorithm != kHmac) return WrongSignature();
    const std::string expected = SignShared(secret_, jwt.signed_part);
    const bool same = jwt.signature.size() == expected.size() &&
                      CRYPTO_memcmp(jwt.signature.data(), expected.data(), expected.size()) == 0;
    return same ? OkStatus() : WrongSignature();
  }
  const auto found = keys_.find(jwt.key_id);
  if (found == keys_.end()) return NotFoundError("the token's key is not known");
  const Key& key = found->second;
  if (jwt.algorithm != key.algorithm) return WrongSignature();
  if (key.algorithm == kRsa) {
    return SignatureFits(key.key.get(), jwt.signed_part, jwt.signature) ? OkStatus()
                                                                        : WrongSignature();
  }
  const std::optional<std::string> der = EcSignatureToDer(jwt.signature);
  const bool fits = der && SignatureFits(key.key.get(), jwt.signed_part, *der);
  return fits ? OkStatus() : WrongSignature();
}

}  // namespace pstrain
