// As hostile_peer_test.cc, against replicas whose tokens an issuer signs, as in a cluster: forged
// ones of each algorithm, with and without TLS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "runtime/rpc/grpc/tls.h"
#include "runtime/rpc/identity/caller.h"
#include "runtime/rpc/identity/key_set.h"
#include "runtime/rpc/identity/token_verifier.h"
#include "runtime/stats/token_errors.h"
#include "tests/process/hostile_client.h"
#include "tests/process/hostile_methods.h"
#include "tests/process/replicas_fixture.h"
#include "tests/runtime/rpc/identity/test_tokens.h"
#include "tests/testing/test_certificates.h"

namespace pstrain {
namespace {

using identity_test::Claims;
using identity_test::SigningKey;
using ::testing::AnyOf;
using ::testing::Eq;

constexpr char kUid[] = "uid-1";
constexpr char kIssuer[] = "https://cluster";
/// In 2100.
constexpr std::int64_t kFarAway = 4'102'444'800;

Claims ClaimsOf(const Caller& caller, Audience audience) {
  return {.issuer = kIssuer,
          .audience = AudienceText(audience, kUid),
          .expires = kFarAway,
          .name_space = "n",
          .pod = PodNameOf("exact", caller),
          .uid = "uid of " + PodNameOf("exact", caller)};
}

/// With TLS or without.
class HostileIssuerTest : public ReplicasTest, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    ReplicasTest::SetUp();
    const std::string jwks = R"({"keys":[)" + rsa_.Jwk() + "," + ec_.Jwk() + "]}";
    ASSERT_TRUE(WriteFileAtomically(dir_.File("jwks.json"), jwks).ok());
    environment_ = {"PSTRAIN_NAMESPACE=n", std::string("PSTRAIN_JOB_UID=") + kUid,
                    "PSTRAIN_IDENTITY_JWKS=" + dir_.File("jwks.json"),
                    std::string("PSTRAIN_IDENTITY_ISSUER=") + kIssuer};
    for (const char* role : {"chief", "ps", "worker"}) {
      for (std::uint32_t index = 0; index < 2; ++index) WriteTokens(role, index);
    }
    if (GetParam()) UseTls();
  }
  std::vector<std::string> Before(const std::string& role, int index) const override {
    return {"/usr/bin/env", "PSTRAIN_IDENTITY_TOKENS=" + Tokens(role, index)};
  }

  std::string Tokens(const std::string& role, int index) const {
    return dir_.File("tokens-" + role + std::to_string(index));
  }
  /// As the kubelet does; each algorithm signs for some replicas.
  void WriteTokens(const std::string& role, std::uint32_t index) {
    const std::string folder = Tokens(role, static_cast<int>(index));
    ASSERT_TRUE(CreateDirectories(folder).ok());
    const Caller self{*RoleFromName(role), index, 0, 0};
    for (const Audience audience : {Audience::kChief, Audience::kPs}) {
      const SigningKey& key = index == 0 ? rsa_ : ec_;
      const std::string file = JoinPath(folder, RoleName(RoleOf(audience)));
      ASSERT_TRUE(WriteFileAtomically(file, key.Token(ClaimsOf(self, audience).Text())).ok());
    }
  }
  void UseTls() {
    const std::string folder = dir_.File("tls");
    const testing::TestCertificate authority = testing::MakeAuthority("exact");
    const testing::TestCertificate own =
        testing::IssueCertificate(authority, "replica", "DNS:*.exact.n.svc");
    ASSERT_TRUE(CreateDirectories(folder).ok());
    ASSERT_TRUE(WriteFileAtomically(JoinPath(folder, "ca.crt"), authority.certificate).ok());
    ASSERT_TRUE(WriteFileAtomically(JoinPath(folder, "tls.crt"), own.certificate).ok());
    ASSERT_TRUE(WriteFileAtomically(JoinPath(folder, "tls.key"), own.key).ok());
    environment_.push_back("PSTRAIN_TLS_DIR=" + folder);
    auto tls = MutualTls::Open({.folder = folder, .domain = "exact.n.svc"});
    ASSERT_TRUE(tls.ok()) << tls.status().ToString();
    tls_ = *std::move(tls);
    // The worst: somebody who has a certificate of the job, and no token.
    connection_ = std::make_unique<TlsCredentials>(nullptr, tls_.get());
  }

  Status Call(const Method& method, const std::string& message, const std::string& token) {
    return CallRaw(AddressOf(method.audience == Audience::kChief ? "chief" : "ps", 0), method.name,
                   message, Bearer(token), connection_.get());
  }

  /// Signed by nobody whom the cluster knows.
  std::map<std::string, std::string> Forged(const Method& method) const {
    const Caller right{method.roles.front(), 0, 0, 0};
    const std::string claims = ClaimsOf(right, method.audience).Text();
    const auto with = [&claims](const std::string& header, const std::string& signature) {
      return ToBase64Url(header) + "." + ToBase64Url(claims) + "." + ToBase64Url(signature);
    };
    const auto hmac = [&claims](const std::string& kid, const std::string& secret) {
      const std::string part =
          ToBase64Url(R"({"alg":"HS256","kid":")" + kid + "\"}") + "." + ToBase64Url(claims);
      return part + "." + ToBase64Url(SignShared(secret, part));
    };
    std::string other_claims =
        rsa_.Token(ClaimsOf({Role::kWorker, 9, 0, 0}, method.audience).Text());
    other_claims = other_claims.substr(0, other_claims.find('.')) + "." + ToBase64Url(claims) +
                   other_claims.substr(other_claims.rfind('.'));
    return {{"RS256 by another key of that name", other_rsa_.Token(claims)},
            {"ES256 by another key of that name", other_ec_.Token(claims)},
            {"RS256, the signature of other claims", other_claims},
            {"ES256 of zeros", with(R"({"alg":"ES256","kid":"e"})", std::string(64, '\0'))},
            {"RS256 without a signature", with(R"({"alg":"RS256","kid":"r"})", "")},
            {"alg none", with(R"({"alg":"none","kid":"r"})", "")},
            {"no alg", with(R"({"kid":"e"})", "")},
            {"HS256 by the RSA key's PEM", hmac("r", rsa_.Pem())},
            {"HS256 by the RSA key's JWK", hmac("r", rsa_.Jwk())},
            {"HS256 by the EC key's PEM", hmac("e", ec_.Pem())},
            {"HS256 by nothing", hmac("r", "")},
            {"ES256 by the name of the RSA key", SigningKey::Ec("r").Token(claims)},
            {"RS256 by the name of the EC key", rsa_.Renamed("e").Token(claims)}};
  }
  /// Signed by the cluster, for somebody else.
  std::map<std::string, std::string> Foreign(const Method& method) const {
    const Claims right = ClaimsOf({method.roles.front(), 0, 0, 0}, method.audience);
    Claims name_space = right;
    name_space.name_space = "other";
    Claims apiserver = right;
    apiserver.audience = "https://kubernetes.default.svc";
    Claims job = right;
    job.audience = "pstrain.dev/uid-2/chief";
    Claims issuer = right;
    issuer.issuer = "https://other";
    return {{"another namespace", ec_.Token(name_space.Text())},
            {"the apiserver", rsa_.Token(apiserver.Text())},
            {"another job", ec_.Token(job.Text())},
            {"another issuer", rsa_.Token(issuer.Text())}};
  }

  const SigningKey rsa_ = SigningKey::Rsa("r");
  const SigningKey ec_ = SigningKey::Ec("e");
  const SigningKey other_rsa_ = SigningKey::Rsa("r");
  const SigningKey other_ec_ = SigningKey::Ec("e");
  std::shared_ptr<const MutualTls> tls_;
  /// What calls are made over; null: in the clear.
  std::unique_ptr<Credentials> connection_;
};

INSTANTIATE_TEST_SUITE_P(Connections, HostileIssuerTest, ::testing::Bool(),
                         [](const auto& tls) { return tls.param ? "Tls" : "InTheClear"; });

TEST_P(HostileIssuerTest, EveryMethod_WithEachForgedToken_IsRefused) {
  BarrierAt(50);
  StartAll();
  for (const Method& method : Methods()) {
    const std::string request = WorstRequests(method).front();
    std::map<std::string, std::string> tokens = Forged(method);
    tokens.merge(Foreign(method));
    for (const auto& [what, token] : tokens) {
      EXPECT_THAT(Call(method, request, token).code(),
                  AnyOf(Eq(StatusCode::kUnauthenticated), Eq(StatusCode::kPermissionDenied)))
          << method.name << " with " << what;
    }
    // These two are to come again, and nothing else happens.
    Claims late = ClaimsOf({method.roles.front(), 0, 0, 0}, method.audience);
    late.expires = 1;
    EXPECT_TRUE(IsPassingTokenError(kWrongTime, Call(method, request, ec_.Token(late.Text()))))
        << method.name;
    const SigningKey unknown = SigningKey::Ec("unknown");
    EXPECT_TRUE(IsPassingTokenError(kUnknownKey, Call(method, request, unknown.Token(late.Text()))))
        << method.name;
  }
  Continue(50);
  ExpectExact();
}

// A pod of an earlier attempt of a replica is gone, and somebody has its token.
TEST_P(HostileIssuerTest, ATokenOfAnotherAttemptOrPod_SpeaksForNoReplica) {
  BarrierAt(50);
  StartAll();
  for (const Method& method : Methods()) {
    if (method.names != Names::kIndexAndAttempt || method.roles.front() == Role::kEvaluator) {
      continue;
    }
    const std::string request = WorstRequests(method).front();
    const Caller other_attempt{method.roles.front(), 0, 3, 0};
    EXPECT_EQ(
        Call(method, request, ec_.Token(ClaimsOf(other_attempt, method.audience).Text())).code(),
        StatusCode::kPermissionDenied)
        << method.name;
    Claims other_pod = ClaimsOf({method.roles.front(), 0, 0, 0}, method.audience);
    other_pod.uid = "another";
    EXPECT_EQ(Call(method, request, ec_.Token(other_pod.Text())).code(),
              StatusCode::kPermissionDenied)
        << method.name;
  }
  Continue(50);
  ExpectExact();
}

}  // namespace
}  // namespace pstrain
