#include "runtime/rpc/identity/jwt.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/rpc/identity/base64url.h"

namespace pstrain {
namespace {

constexpr char kHeader[] = R"({"alg":"RS256","kid":"k"})";
constexpr char kClaims[] =
    R"({"iss":"i","aud":"a","exp":9,"nbf":3,"kubernetes.io":{"pod":{"name":"p","uid":"u"}}})";

std::string Token(const std::string& header, const std::string& claims) {
  return ToBase64Url(header) + "." + ToBase64Url(claims) + "." + ToBase64Url("signature");
}

TEST(Base64Url, GoesThereAndBack) {
  for (const std::string& bytes : {std::string(), std::string("f"), std::string("fo"),
                                   std::string("foo"), std::string("\xff\xfe\x00\x01", 4)}) {
    EXPECT_EQ(FromBase64Url(ToBase64Url(bytes)), bytes);
  }
  EXPECT_EQ(ToBase64Url("\xfb\xff"), "-_8");
  for (const char* bad : {"-_9", "a", "ab=", "a+b/", "ab c"}) {
    EXPECT_FALSE(FromBase64Url(bad).has_value()) << bad;
  }
}

TEST(Jwt, WhenWhole_IsTakenApart) {
  const std::string token = Token(kHeader, kClaims);
  const Result<Jwt> jwt = ParseJwt(token);
  ASSERT_TRUE(jwt.ok()) << jwt.status().ToString();
  EXPECT_EQ(jwt->algorithm, "RS256");
  EXPECT_EQ(jwt->key_id, "k");
  EXPECT_EQ(jwt->issuer, "i");
  EXPECT_EQ(jwt->audiences, std::vector<std::string>{"a"});
  EXPECT_EQ(jwt->expires, 9);
  EXPECT_EQ(jwt->not_before, 3);
  EXPECT_EQ(jwt->pod, "p");
  EXPECT_EQ(jwt->pod_uid, "u");
  EXPECT_EQ(jwt->signature, "signature");
  EXPECT_EQ(jwt->signed_part, token.substr(0, token.rfind('.')));
}

TEST(Jwt, WhenMalformed_IsUnauthenticated) {
  const std::string good = Token(kHeader, kClaims);
  const std::vector<std::string> bad = {
      "",
      "..",
      "a.b",
      good + ".",
      good.substr(0, good.rfind('.')),
      good + "=",
      std::string(kMostTokenBytes + 1, 'a'),
      Token("[]", kClaims),
      Token("{", kClaims),
      Token(R"({"alg":7})", kClaims),
      Token(R"({"alg":"RS256","crit":["b64"]})", kClaims),
      Token(kHeader, "7"),
      Token(kHeader, R"({"aud":"a","exp":9})"),
      Token(kHeader, R"({"aud":7,"exp":9,"kubernetes.io":{"pod":{}}})"),
      Token(kHeader, R"({"aud":[7],"exp":9,"kubernetes.io":{"pod":{}}})"),
      Token(kHeader, R"({"aud":"a","kubernetes.io":{"pod":{}}})"),
      Token(kHeader, R"({"aud":"a","exp":-1,"kubernetes.io":{"pod":{}}})"),
      Token(kHeader, R"({"aud":"a","exp":9.5,"kubernetes.io":{"pod":{}}})"),
      Token(kHeader, R"({"aud":"a","exp":9,"exp":10,"kubernetes.io":{"pod":{}}})"),
      Token(kHeader, R"({"aud":"a","exp":9,"kubernetes.io":{"pod":{"name":7}}})")};
  for (const std::string& token : bad) {
    EXPECT_EQ(ParseJwt(token).status().code(), StatusCode::kUnauthenticated) << token;
  }
}

}  // namespace
}  // namespace pstrain
