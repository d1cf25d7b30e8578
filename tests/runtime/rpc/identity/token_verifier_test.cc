#include "runtime/rpc/identity/token_verifier.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "base/manual_clock.h"
#include "base/os/files.h"
#include "runtime/rpc/identity/identity.h"
#include "runtime/rpc/identity/published.h"
#include "runtime/stats/token_errors.h"
#include "tests/runtime/rpc/identity/test_tokens.h"

namespace pstrain {
namespace {

using identity_test::Claims;
using identity_test::SigningKey;

std::string Jwks(const std::string& keys) { return R"({"keys":[)" + keys + "]}"; }

class TokenVerifierTest : public testing::Test {
 protected:
  TokenVerifierTest() { Publish(Jwks(rsa_.Jwk() + "," + ec_.Jwk())); }
  void Publish(const std::string& json) {
    Result<KeySet> keys = KeySet::FromJwks(json);
    ASSERT_TRUE(keys.ok()) << keys.status().ToString();
    keys_ = std::make_shared<const KeySet>(std::move(keys).value());
  }
  StatusCode Code(const std::string& token) { return verifier_.Verify(token).status().code(); }

  /// Made once: it takes long.
  static const SigningKey& Rsa() {
    static const SigningKey key = SigningKey::Rsa("r");
    return key;
  }

  const SigningKey& rsa_ = Rsa();
  const SigningKey ec_ = SigningKey::Ec("e");
  std::shared_ptr<const KeySet> keys_;
  int asked_ = 0;
  ManualClock clock_{std::chrono::seconds(1000), 0};
  TokenVerifier verifier_{{.issuer = "https://cluster",
                           .audience = "pstrain.dev/uid-1/ps",
                           .name_space = "n",
                           .job_name = "job"},
                          [this] {
                            ++asked_;
                            return keys_;
                          },
                          &clock_};
};

TEST_F(TokenVerifierTest, WhenSignedByAPublishedKey_SaysWhoItIs) {
  const Caller expected{Role::kWorker, 0, 0, 5060};
  EXPECT_EQ(*verifier_.Verify(rsa_.Token(Claims().Text())), expected);
  EXPECT_EQ(*verifier_.Verify(ec_.Token(Claims().Text())), expected);
  EXPECT_EQ(*verifier_.Verify(ec_.Token(Claims{.pod = "job-ps-12-3", .uid = "x"}.Text())),
            (Caller{Role::kPs, 12, 3, 5060}));
}

TEST_F(TokenVerifierTest, WhenAClaimIsWrong_IsRefused) {
  EXPECT_EQ(Code(""), StatusCode::kUnauthenticated);
  EXPECT_EQ(Code(ec_.Token(Claims{.issuer = "other"}.Text())), StatusCode::kUnauthenticated);
  EXPECT_EQ(Code(ec_.Token(Claims{.audience = "pstrain.dev/uid-1/chief"}.Text())),
            StatusCode::kPermissionDenied);
  EXPECT_EQ(Code(ec_.Token(Claims{.audience = "https://kubernetes.default.svc"}.Text())),
            StatusCode::kPermissionDenied);
  // A pod of the right name, whose owner may ask for any audience.
  EXPECT_EQ(Code(ec_.Token(Claims{.name_space = "other"}.Text())), StatusCode::kPermissionDenied);
  for (const char* pod :
       {"other-worker-0", "job", "job-", "job-worker", "job-worker-", "job-cook-0", "job-worker-00",
        "job-worker-0-0", "job-worker-0-1-2", "job-worker--1"}) {
    EXPECT_EQ(Code(ec_.Token(Claims{.pod = pod}.Text())), StatusCode::kPermissionDenied) << pod;
  }
}

TEST_F(TokenVerifierTest, WhenTheSignatureIsAnothers_IsRefused) {
  const SigningKey stranger = SigningKey::Ec("e");
  EXPECT_EQ(Code(stranger.Token(Claims().Text())), StatusCode::kUnauthenticated);
  std::string changed = ec_.Token(Claims().Text());
  const std::string other = ec_.Token(Claims{.pod = "job-chief-0"}.Text());
  changed = changed.substr(0, changed.find('.')) +
            other.substr(other.find('.'), other.rfind('.') - other.find('.')) +
            changed.substr(changed.rfind('.'));
  EXPECT_EQ(Code(changed), StatusCode::kUnauthenticated);
  EXPECT_EQ(Code(changed.substr(0, changed.rfind('.') + 1)), StatusCode::kUnauthenticated);
}

TEST_F(TokenVerifierTest, WhenTheAlgorithmIsNotTheKeys_IsRefused) {
  const std::string claims = ToBase64Url(Claims().Text());
  for (const char* header : {R"({"alg":"none","kid":"r"})", R"({"alg":"HS256","kid":"r"})",
                             R"({"alg":"ES256","kid":"r"})", R"({"kid":"r"})"}) {
    const std::string part = ToBase64Url(header) + "." + claims;
    EXPECT_EQ(Code(part + "." + ToBase64Url(SignShared(rsa_.Jwk(), part))),
              StatusCode::kUnauthenticated)
        << header;
  }
}

TEST_F(TokenVerifierTest, OfTimes_AllowsTheLeewayAndNoMore) {
  const auto at = [this](std::int64_t seconds) {
    clock_.Advance(std::chrono::seconds(seconds) - clock_.Now());
  };
  const std::string token = ec_.Token(Claims{.expires = 2000, .not_before = 1500}.Text());
  at(1439);
  EXPECT_EQ(Code(token), StatusCode::kUnavailable);
  at(1440);
  const Result<Caller> caller = verifier_.Verify(token);
  ASSERT_TRUE(caller.ok());
  at(2060);
  EXPECT_TRUE(verifier_.Verify(token).ok());
  EXPECT_TRUE(verifier_.CheckStillGood(*caller).ok());
  at(2061);
  EXPECT_EQ(verifier_.CheckStillGood(*caller).code(), StatusCode::kUnavailable);
  EXPECT_EQ(Code(token), StatusCode::kUnavailable);
}

TEST_F(TokenVerifierTest, OfAnAttempt_TheFirstPodIsThePod) {
  EXPECT_TRUE(verifier_.Verify(ec_.Token(Claims().Text())).ok());
  EXPECT_EQ(Code(ec_.Token(Claims{.uid = "pod-2"}.Text())), StatusCode::kPermissionDenied);
  EXPECT_TRUE(verifier_.Verify(ec_.Token(Claims{.expires = 6000}.Text())).ok());
  EXPECT_TRUE(
      verifier_.Verify(ec_.Token(Claims{.pod = "job-worker-0-1", .uid = "pod-2"}.Text())).ok());
}

TEST_F(TokenVerifierTest, WhenTheKeyIsNotPublishedYet_IsToComeAgain) {
  const SigningKey next = SigningKey::Ec("next");
  const std::string token = next.Token(Claims().Text());
  EXPECT_EQ(Code(token), StatusCode::kUnavailable);
  EXPECT_TRUE(IsPassingTokenError(kUnknownKey, verifier_.Verify(token).status()));
  Publish(Jwks(next.Jwk()));
  EXPECT_TRUE(verifier_.Verify(token).ok());
  keys_ = nullptr;
  EXPECT_TRUE(
      IsPassingTokenError(kUnknownKey, verifier_.Verify(ec_.Token(Claims().Text())).status()));
}

TEST_F(TokenVerifierTest, ATokenIsReadOnce) {
  const std::string token = ec_.Token(Claims().Text());
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(verifier_.Verify(token).ok());
  EXPECT_EQ(asked_, 1);
}

TEST(KeySet, FromWhatIsNoKeySet_IsRefused) {
  for (const std::string& bad :
       {std::string(), std::string("{}"), Jwks(""), Jwks("7"), Jwks(R"({"kty":"oct","k":"AAAA"})"),
        Jwks(R"({"kty":"RSA","n":"AQAB","e":"AQAB"})"),
        Jwks(R"({"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"})"),
        Jwks(SigningKey::Rsa("small", 1024).Jwk())}) {
    EXPECT_EQ(KeySet::FromJwks(bad).status().code(), StatusCode::kInvalidArgument) << bad;
  }
}

TEST(PublishedKeys, AreReadAgainWhenTheFileChanges) {
  const TempDir dir;
  ManualClock clock(std::chrono::seconds(1000));
  PublishedKeys keys(dir.File("jwks"), &clock);
  EXPECT_EQ(keys.Current(), nullptr);
  ASSERT_TRUE(WriteFileAtomically(dir.File("jwks"), Jwks(SigningKey::Ec("e").Jwk())).ok());
  EXPECT_EQ(keys.Current(), nullptr);
  clock.Advance(kReadAgain);
  const auto first = keys.Current();
  ASSERT_NE(first, nullptr);
  ASSERT_TRUE(WriteFileAtomically(dir.File("jwks"), "half").ok());
  clock.Advance(kReadAgain);
  EXPECT_EQ(keys.Current(), first);
}

/// A volume as the kubelet writes it (its AtomicWriter): the file is a link into `..data`, which is
/// a link to a folder of this version and is replaced by rename.
class MountedKeys {
 public:
  explicit MountedKeys(std::string folder) : folder_(std::move(folder)) {
    EXPECT_EQ(symlink("..data/jwks.json", File().c_str()), 0);
  }
  std::string File() const { return JoinPath(folder_, "jwks.json"); }
  void Write(const std::string& json) {
    const std::string version = "..v" + std::to_string(++versions_);
    ASSERT_TRUE(CreateDirectories(JoinPath(folder_, version)).ok());
    ASSERT_TRUE(WriteFileAtomically(JoinPath(folder_, version + "/jwks.json"), json).ok());
    const std::string next = JoinPath(folder_, "..data_tmp");
    ASSERT_EQ(symlink(version.c_str(), next.c_str()), 0);
    ASSERT_EQ(rename(next.c_str(), JoinPath(folder_, "..data").c_str()), 0);
  }

 private:
  const std::string folder_;
  int versions_ = 0;
};

TEST(PublishedKeys, WhenTheKubeletReplacesThem_TokensOfTheNextKeyThatWaitedAreGood) {
  const TempDir dir;
  MountedKeys mounted(dir.path());
  const SigningKey before = SigningKey::Ec("before");
  const SigningKey next = SigningKey::Ec("next");
  mounted.Write(Jwks(before.Jwk()));
  ManualClock clock(std::chrono::seconds(1000), 0);
  PublishedKeys keys(mounted.File(), &clock);
  TokenVerifier verifier(
      {.issuer = "https://cluster", .audience = "pstrain.dev/uid-1/ps", .job_name = "job"},
      [&keys] { return keys.Current(); }, &clock);
  const std::string old_token = before.Token(Claims().Text());
  EXPECT_TRUE(verifier.Verify(old_token).ok());
  // The apiserver signs with the next key before the file has it.
  const std::string token = next.Token(Claims{.expires = 5100}.Text());
  EXPECT_EQ(verifier.Verify(token).status().code(), StatusCode::kUnavailable);
  mounted.Write(Jwks(before.Jwk() + "," + next.Jwk()));
  clock.Advance(kReadAgain);
  EXPECT_TRUE(verifier.Verify(token).ok());
  EXPECT_TRUE(verifier.Verify(before.Token(Claims{.expires = 5200}.Text())).ok());
  // A key that is withdrawn signs nothing new.
  mounted.Write(Jwks(next.Jwk()));
  clock.Advance(kReadAgain);
  EXPECT_EQ(verifier.Verify(before.Token(Claims{.expires = 5300}.Text())).status().code(),
            StatusCode::kUnavailable);
}

TEST(TokenFiles, AreReadAgain) {
  const TempDir dir;
  ManualClock clock(std::chrono::seconds(1000));
  const TokenFiles files(dir.path(), &clock);
  EXPECT_EQ(files.Token(Audience::kPs).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(WriteFileAtomically(dir.File("ps"), "one\n").ok());
  ASSERT_TRUE(WriteFileAtomically(dir.File("chief"), "two").ok());
  EXPECT_EQ(*files.Token(Audience::kPs), "one");
  EXPECT_EQ(*files.Token(Audience::kChief), "two");
  ASSERT_TRUE(WriteFileAtomically(dir.File("ps"), "three").ok());
  EXPECT_EQ(*files.Token(Audience::kPs), "one");
  clock.Advance(kReadAgain);
  EXPECT_EQ(*files.Token(Audience::kPs), "three");
}

class SharedKeyTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Identity>> Open(const Caller& self, const std::string& run = "run") {
    return OpenIdentity(
        {.key_file = dir_.File("key"), .job_name = "job", .job_uid = run, .self = self});
  }
  void SetUp() override {
    ASSERT_TRUE(WriteFileAtomically(dir_.File("key"), std::string(32, 'k')).ok());
  }
  TempDir dir_;
};

TEST_F(SharedKeyTest, ReplicasOfOneRun_KnowEachOther) {
  const auto worker = Open({Role::kWorker, 3, 2, 0});
  const auto chief = Open({Role::kChief, 0, 0, 0});
  const auto ps = Open({Role::kPs, 1, 0, 0});
  ASSERT_TRUE(worker.ok() && chief.ok() && ps.ok());
  EXPECT_EQ((*worker)->verifier, nullptr);
  const std::string token = *(*worker)->credentials->Token(Audience::kChief);
  Result<Caller> caller = (*chief)->verifier->Verify(token);
  ASSERT_TRUE(caller.ok()) << caller.status().ToString();
  caller->expires = 0;
  EXPECT_EQ(*caller, (Caller{Role::kWorker, 3, 2, 0}));
  // What the chief has received is useless at a ps.
  EXPECT_EQ((*ps)->verifier->Verify(token).status().code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(VerifyBearer(*(*chief)->verifier, "").status().code(), StatusCode::kUnauthenticated);
  EXPECT_EQ(VerifyBearer(*(*chief)->verifier, "Basic x").status().code(),
            StatusCode::kUnauthenticated);
  EXPECT_TRUE(VerifyBearer(*(*chief)->verifier, Bearer(token)).ok());
}

TEST_F(SharedKeyTest, AnotherKeyOrRun_IsRefused) {
  const auto chief = Open({Role::kChief, 0, 0, 0});
  const auto other_run = Open({Role::kWorker, 0, 0, 0}, "other");
  ASSERT_TRUE(WriteFileAtomically(dir_.File("key"), std::string(32, 'x')).ok());
  const auto other_key = Open({Role::kWorker, 0, 0, 0});
  ASSERT_TRUE(chief.ok() && other_run.ok() && other_key.ok());
  CallerVerifier& verifier = *(*chief)->verifier;
  EXPECT_EQ(verifier.Verify(*(*other_run)->credentials->Token(Audience::kChief)).status().code(),
            StatusCode::kPermissionDenied);
  EXPECT_EQ(verifier.Verify(*(*other_key)->credentials->Token(Audience::kChief)).status().code(),
            StatusCode::kUnauthenticated);
}

TEST_F(SharedKeyTest, WithoutKeyOrTokens_ThereIsNoIdentity) {
  EXPECT_EQ(*OpenIdentity({}), nullptr);
  ASSERT_TRUE(WriteFileAtomically(dir_.File("key"), "short").ok());
  EXPECT_EQ(Open({}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(OpenIdentity({.tokens = dir_.path()}).ok());
}

TEST(SharedKeyCredentials, SignAgainAtHalfOfTheLife) {
  ManualClock clock(std::chrono::seconds(1000));
  const SharedKeyCredentials credentials(std::string(32, 'k'), "job", "run", {}, &clock);
  const std::string first = *credentials.Token(Audience::kPs);
  EXPECT_NE(*credentials.Token(Audience::kChief), first);
  clock.Advance(SharedKeyCredentials::kLifetime / 2 - std::chrono::seconds(1));
  EXPECT_EQ(*credentials.Token(Audience::kPs), first);
  clock.Advance(std::chrono::seconds(1));
  EXPECT_NE(*credentials.Token(Audience::kPs), first);
}

}  // namespace
}  // namespace pstrain
