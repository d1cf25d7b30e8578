#include "base/metrics/http_request.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

TEST(HttpRequest, EndOfHead_IsBehindTheEmptyLine) {
  EXPECT_EQ(EndOfHttpHead("GET / HTTP/1.1\r\n"), std::nullopt);
  EXPECT_EQ(EndOfHttpHead("GET / HTTP/1.1\r\n\r\nbody"), 18U);
}

TEST(HttpRequest, Parse_GivesMethodPathAndAuthorization) {
  const auto request =
      ParseHttpRequest("GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\naUTHORIZATION:  Bearer t \r\n\r\n");
  ASSERT_TRUE(request.ok()) << request.status().message();
  EXPECT_EQ(request->method, "GET");
  EXPECT_EQ(request->path, "/metrics");
  EXPECT_EQ(request->authorization, "Bearer t");
  EXPECT_EQ(ParseHttpRequest("HEAD /%2e HTTP/1.0\r\n\r\n")->path, "/%2e");
}

TEST(HttpRequest, Parse_RefusesWhatIsNoHead) {
  for (const char* head :
       {"", "\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/2\r\n\r\n",
        " / HTTP/1.1\r\n\r\n", "GET  HTTP/1.1\r\n\r\n", "GET /a b HTTP/1.1\r\n\r\n",
        "GET /\x01 HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\n: x\r\n\r\n", "GET / HTTP/1.1\r\nAuthorization : x\r\n\r\n",
        "GET / HTTP/1.1\r\nAuthorization: a\r\nauthorization: b\r\n\r\n"}) {
    EXPECT_EQ(ParseHttpRequest(head).status().code(), StatusCode::kInvalidArgument) << head;
  }
}

}  // namespace
}  // namespace pstrain
