// Tokens and time: one that is right in all but the time is to come again, for every algorithm;
// what is remembered of tokens, and what a replica notices of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/manual_clock.h"
#include "base/os/files.h"
#include "runtime/rpc/identity/base64url.h"
#include "runtime/rpc/identity/identity.h"
#include "runtime/rpc/identity/key_set.h"
#include "runtime/rpc/identity/published.h"
#include "runtime/rpc/identity/token_verifier.h"
#include "runtime/rpc/identity/token_watch.h"
#include "runtime/stats/token_errors.h"
#include "tests/runtime/rpc/identity/test_tokens.h"

namespace pstrain {
namespace {

using identity_test::Claims;
using identity_test::SigningKey;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr char kSecret[] = "the secret of this run";

/// Signs claims as issuers do that a replica may have to believe.
struct Signer {
  std::string name;
  KeySet keys;
  std::function<std::string(const Claims& claims)> sign;
};

KeySet Published(const SigningKey& key) {
  return *KeySet::FromJwks(R"({"keys":[)" + key.Jwk() + "]}");
}

Signer SignerOf(std::string name, const SigningKey& key) {
  return {std::move(name), Published(key),
          [key](const Claims& claims) { return key.Token(claims.Text()); }};
}

Signer SharedSigner() {
  return {"HS256", KeySet::Shared(kSecret), [](const Claims& claims) {
            const std::string part =
                ToBase64Url(R"({"alg":"HS256"})") + "." + ToBase64Url(claims.Text());
            return part + "." + ToBase64Url(SignShared(kSecret, part));
          }};
}

/// Made once: an RSA key takes long.
const std::vector<Signer>& Signers() {
  static const std::vector<Signer> signers = {SignerOf("RS256", SigningKey::Rsa("r")),
                                              SignerOf("ES256", SigningKey::Ec("e")),
                                              SharedSigner()};
  return signers;
}

class TokenTimesTest : public testing::TestWithParam<std::size_t> {
 protected:
  const Signer& signer() const { return Signers()[GetParam()]; }
  std::string Sign(const Claims& claims) const { return signer().sign(claims); }
  Status Verify(const Claims& claims) { return verifier_.Verify(Sign(claims)).status(); }
  void MoveTo(std::int64_t time) { clock_.Advance(seconds(time) - clock_.Now()); }

  ManualClock clock_{seconds(1000), 0};
  int asked_ = 0;
  TokenVerifier verifier_{{.issuer = "https://cluster",
                           .audience = "pstrain.dev/uid-1/ps",
                           .name_space = "n",
                           .job_name = "job",
                           .most_remembered = 4},
                          [this, keys = std::make_shared<const KeySet>(signer().keys)] {
                            ++asked_;
                            return keys;
                          },
                          &clock_};
};

INSTANTIATE_TEST_SUITE_P(Algorithms, TokenTimesTest, testing::Values(0, 1, 2),
                         [](const auto& algorithm) { return Signers()[algorithm.param].name; });

// An apiserver that is away renews nothing, and clocks differ: neither may fail a job.
TEST_P(TokenTimesTest, RightInAllButTheTime_IsToComeAgain) {
  const Claims claims{.expires = 2000, .not_before = 1500};
  EXPECT_TRUE(IsPassingTokenError(kWrongTime, Verify(claims))) << Verify(claims).ToString();
  MoveTo(1500);
  const Result<Caller> caller = verifier_.Verify(Sign(claims));
  ASSERT_TRUE(caller.ok()) << caller.status().ToString();
  MoveTo(2061);
  EXPECT_TRUE(IsPassingTokenError(kWrongTime, verifier_.CheckStillGood(*caller)));
  const Status late = Verify(claims);
  EXPECT_TRUE(IsPassingTokenError(kWrongTime, late)) << late.ToString();
  EXPECT_THAT(late.message(), HasSubstr("it expired 61 s ago"));
  EXPECT_TRUE(Verify({.expires = 3000}).ok()) << "the pod's next token";
}

TEST_P(TokenTimesTest, WrongInMoreThanTheTime_IsRefusedForThat) {
  ASSERT_TRUE(Verify({.expires = 1100}).ok());
  MoveTo(4000);
  const auto code = [this](Claims claims) {
    claims.expires = 2000;
    return Verify(claims).code();
  };
  EXPECT_EQ(code({.issuer = "other"}), StatusCode::kUnauthenticated);
  EXPECT_EQ(code({.audience = "pstrain.dev/uid-1/chief"}), StatusCode::kPermissionDenied);
  EXPECT_EQ(code({.name_space = "other"}), StatusCode::kPermissionDenied);
  EXPECT_EQ(code({.pod = "other-worker-0"}), StatusCode::kPermissionDenied);
  EXPECT_EQ(code({.uid = "pod-2"}), StatusCode::kPermissionDenied);
  std::string forged = Sign({.expires = 2000});
  forged[forged.rfind('.') + 1] = forged[forged.rfind('.') + 1] == 'A' ? 'B' : 'A';
  EXPECT_EQ(verifier_.Verify(forged).status().code(), StatusCode::kUnauthenticated);
}

// A token of another pod that has expired says nothing of who the attempt is.
TEST_P(TokenTimesTest, OfAnAttempt_ATokenOfAnotherTimeDoesNotTakeThePlace) {
  MoveTo(3000);
  EXPECT_TRUE(IsPassingTokenError(kWrongTime, Verify({.expires = 2000, .uid = "pod-2"})));
  EXPECT_TRUE(Verify({.uid = "pod-1"}).ok());
}

// The kubelet has replaced it, and somebody may have the one before: it counts while it lasts.
TEST_P(TokenTimesTest, WhenAPodHasANewerToken_TheOlderOneIsGoodUntilItExpires) {
  EXPECT_TRUE(Verify({.expires = 2000}).ok());
  EXPECT_TRUE(Verify({.expires = 3000}).ok());
  EXPECT_TRUE(Verify({.expires = 2000}).ok());
  MoveTo(2061);
  EXPECT_TRUE(IsPassingTokenError(kWrongTime, Verify({.expires = 2000})));
  EXPECT_TRUE(Verify({.expires = 3000}).ok());
}

TEST_P(TokenTimesTest, WhatHasExpired_IsForgottenALittleWithEachCall) {
  const std::string last = Sign({.expires = 5000});
  ASSERT_TRUE(verifier_.Verify(last).ok());
  for (std::int64_t expires : {2001, 2002, 2003}) {
    ASSERT_TRUE(Verify({.expires = expires}).ok());
  }
  EXPECT_EQ(verifier_.remembered(), 4U);
  MoveTo(2500);
  ASSERT_TRUE(verifier_.Verify(last).ok());
  EXPECT_EQ(verifier_.remembered(), 2U) << "two at a time";
  ASSERT_TRUE(verifier_.Verify(last).ok());
  EXPECT_EQ(verifier_.remembered(), 1U);
}

TEST_P(TokenTimesTest, WhenThereAreTooMany_TheOneThatExpiresFirstIsForgotten) {
  const std::string last = Sign({.expires = 9000});
  ASSERT_TRUE(verifier_.Verify(last).ok());
  for (std::int64_t expires = 2000; expires < 2010; ++expires) {
    ASSERT_TRUE(Verify({.expires = expires}).ok());
    EXPECT_LE(verifier_.remembered(), 4U);
  }
  EXPECT_EQ(verifier_.remembered(), 4U);
  const int asked = asked_;
  EXPECT_TRUE(verifier_.Verify(last).ok());
  EXPECT_EQ(asked_, asked) << "this one is remembered";
}

class OwnTokensTest : public testing::Test {
 protected:
  void Write(const char* file, std::int64_t expires) {
    const std::string token = Signers()[1].sign({.expires = expires}) + "\n";
    ASSERT_TRUE(WriteFileAtomically(dir_.File(file), token).ok());
  }
  static int Count(const std::string& text, const std::string& part) {
    int count = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
  }
  /// Shows both tokens, as often as the files are read in so long.
  std::string LogOf(seconds time) {
    testing::internal::CaptureStderr();
    for (seconds gone{0}; gone < time; gone += kReadAgain) {
      clock_.Advance(kReadAgain);
      EXPECT_TRUE(files_.Token(Audience::kPs).ok());
      EXPECT_TRUE(files_.Token(Audience::kChief).ok());
    }
    return testing::internal::GetCapturedStderr();
  }

  const TempDir dir_;
  ManualClock clock_{seconds(1000), 0};
  const TokenFiles files_{dir_.path(), &clock_};
};

TEST_F(OwnTokensTest, WhenTheyAreNotRenewed_TheLogSaysSoOnceForEachOutage) {
  Write("ps", 1100);
  Write("chief", 9000);
  EXPECT_EQ(LogOf(seconds(90)), "");
  const std::string late = LogOf(seconds(1000));
  EXPECT_EQ(Count(late, "this replica's token is not renewed"), 1) << late;
  EXPECT_THAT(late, HasSubstr(dir_.File("ps")));
  EXPECT_THAT(late, HasSubstr("it expired 0 s ago"));
  Write("ps", 3000);
  EXPECT_EQ(Count(LogOf(seconds(100)), "this replica's token is good again"), 1);
  ASSERT_TRUE(RemoveFile(dir_.File("ps")).ok());
  const std::string gone = LogOf(seconds(100));
  EXPECT_EQ(Count(gone, "this replica's token is not renewed"), 1) << gone;
  EXPECT_THAT(gone, HasSubstr("NOT_FOUND"));
}

TEST_F(OwnTokensTest, TheFirstToExpire_IsToldAlsoWhenNobodyIsCalled) {
  Write("ps", 5000);
  Write("chief", 4000);
  EXPECT_EQ(files_.Expires(), 4000);
  Write("chief", 6000);
  EXPECT_EQ(files_.Expires(), 4000) << "files are read each 10 s";
  clock_.Advance(kReadAgain);
  std::vector<std::int64_t> told;
  {
    const TokenWatch watch(&files_, [&told](std::int64_t expires) { told.push_back(expires); });
  }
  EXPECT_EQ(told, std::vector<std::int64_t>{5000});
}

TEST_F(OwnTokensTest, OfAReplicaThatSignsItsOwn_NothingIsWatched) {
  const SharedKeyCredentials credentials(kSecret, "job", "run", {}, &clock_);
  const auto fail = [](std::int64_t expires) { ADD_FAILURE() << expires; };
  const TokenWatch signing(&credentials, fail);
  const TokenWatch none(nullptr, fail);
}

}  // namespace
}  // namespace pstrain
