#include "operator/metrics_access.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/manual_clock.h"
#include "operator/kube/rate_limiter.h"
#include "tests/testing/recording_pause.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

/// An apiserver that knows one token and may be told what its owner may do.
class Reviewer final : public kube::Transport {
 public:
  Result<kube::HttpReply> Send(const kube::HttpRequest& request,
                               const std::stop_token& /*stop*/) override {
    requests.push_back(request.target);
    bodies.push_back(request.body);
    if (!reachable) return UnavailableError("no connection");
    kube::HttpReply reply;
    reply.status = 201;
    reply.content_type = "application/json";
    const bool token_review = request.target.find("tokenreviews") != std::string::npos;
    if (!token_review) {
      reply.body = std::string(R"({"status":{"allowed":)") + (allowed ? "true" : "false") + "}}";
    } else if (request.body.find("\"good\"") != std::string::npos) {
      reply.body = R"({"status":{"authenticated":true,"user":{"username":"prometheus",
          "groups":["system:serviceaccounts"],"uid":"7"}}})";
    } else {
      reply.body = R"({"status":{"authenticated":false,"user":{}}})";
    }
    return reply;
  }
  Result<kube::HttpReply> Stream(const kube::HttpRequest&, kube::ByteSink&,
                                 const std::stop_token&) override {
    return UnimplementedError("no stream");
  }

  bool reachable = true;
  bool allowed = true;
  std::vector<std::string> requests;
  std::vector<std::string> bodies;
};

class MetricsAccessTest : public ::testing::Test {
 protected:
  /// 200 when the client may read.
  int StatusFor(const std::string& authorization) {
    const auto refusal =
        access_.Check({.method = "GET", .path = "/metrics", .authorization = authorization});
    return refusal ? refusal->status : 200;
  }

  Reviewer server_;
  kube::RateLimiter limiter_{{}};
  testing::RecordingPause pause_;
  kube::ApiClient client_{server_, limiter_, pause_, {.retries = 0}};
  ManualClock clock_{seconds(1000)};
  MetricsAccess access_{client_, clock_};
};

TEST_F(MetricsAccessTest, WithoutAToken_Is401AndNobodyIsAsked) {
  for (const char* header : {"", "Basic Zm9v", "Bearer ", "good"}) {
    EXPECT_EQ(StatusFor(header), 401) << header;
  }
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(MetricsAccessTest, WithAnUnknownToken_Is401) {
  EXPECT_EQ(StatusFor("Bearer bad"), 401);
  EXPECT_EQ(server_.requests,
            std::vector<std::string>{"/apis/authentication.k8s.io/v1/tokenreviews"});
}

TEST_F(MetricsAccessTest, WithATokenThatMayNot_Is403) {
  server_.allowed = false;
  EXPECT_EQ(StatusFor("Bearer good"), 403);
  EXPECT_EQ(StatusFor("Bearer good"), 403) << "a no is not kept as a yes";
  EXPECT_EQ(server_.bodies[1],
            R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{)"
            R"("user":"prometheus","uid":"7","groups":["system:serviceaccounts"],)"
            R"("nonResourceAttributes":{"path":"/metrics","verb":"get"}}})");
}

TEST_F(MetricsAccessTest, WithATokenThatMay_AsksOnceAMinute) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(StatusFor("Bearer good"), 200);
  EXPECT_EQ(server_.requests.size(), 2U);
  clock_.Advance(seconds(59));
  EXPECT_EQ(StatusFor("Bearer good"), 200);
  EXPECT_EQ(server_.requests.size(), 2U);
  clock_.Advance(seconds(1));
  server_.allowed = false;
  EXPECT_EQ(StatusFor("Bearer good"), 403) << "the right was taken away";
}

TEST_F(MetricsAccessTest, WhenTheApiserverIsAway_Is503) {
  server_.reachable = false;
  EXPECT_EQ(StatusFor("Bearer good"), 503);
}

TEST_F(MetricsAccessTest, WhenManyTokensAreTried_OnlyTenASecondAreAskedAbout) {
  EXPECT_EQ(StatusFor("Bearer good"), 200);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(StatusFor("Bearer x" + std::to_string(i)), 401);
  EXPECT_EQ(StatusFor("Bearer y"), 503);
  EXPECT_EQ(StatusFor("Bearer good"), 200) << "who is known still reads";
  clock_.Advance(seconds(1));
  EXPECT_EQ(StatusFor("Bearer y"), 401);
}

}  // namespace
}  // namespace pstrain
