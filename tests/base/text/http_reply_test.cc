#include "base/text/http_reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace pstrain {
namespace {

using ::testing::HasSubstr;

TEST(BodyOfReply, OfA200_IsWhatFollowsTheHead) {
  for (const char* head : {"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\n",
                           "HTTP/1.1 200 OK\r\ncontent-length:  4 \r\nX: y\r\n\r\n"}) {
    const auto body = BodyOfReply(std::string(head) + "body");
    ASSERT_TRUE(body.ok()) << body.status().ToString();
    EXPECT_EQ(*body, "body");
  }
}

TEST(BodyOfReply, OfAnythingElse_IsUnavailableWithTheReason) {
  const std::pair<const char*, const char*> bad[] = {
      {"", "no HTTP reply"},
      {"SSH-2.0-x\r\n\r\n", "no HTTP reply"},
      {"HTTP/1.1 200 OK\r\nX: y\r\n", "no HTTP reply"},
      {"HTTP/1.1 2000 x\r\n\r\nbody", "HTTP/1.1 2000 x"},
      {"HTTP/1.", "no HTTP reply"},
      {"HTTP/1.\r\n\r\n", "the answer is HTTP/1."},
      {"HTTP/1.1 503 Service Unavailable\r\n\r\nwait", "503 Service Unavailable"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", "chunks"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbody", "4 bytes of 5"},
      {"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nbody", "4 bytes of many"},
  };
  for (const auto& [reply, reason] : bad) {
    const auto body = BodyOfReply(reply);
    EXPECT_EQ(body.status().code(), StatusCode::kUnavailable) << reply;
    EXPECT_THAT(body.status().message(), HasSubstr(reason)) << reply;
  }
}

}  // namespace
}  // namespace pstrain
