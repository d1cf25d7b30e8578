#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/manual_clock.h"
#include "operator/job/observe/issuer_keys.h"
#include "operator/kube/api_client.h"
#include "operator/kube/json_fields.h"
#include "operator/metrics_access.h"
#include "tests/testing/recording_pause.h"

namespace {

using namespace pstrain;

/// An apiserver that answers one line of the input after the other.
class Answers final : public kube::Transport {
 public:
  explicit Answers(std::string_view lines) : rest_(lines) {}
  Result<kube::HttpReply> Send(const kube::HttpRequest& /*request*/,
                               const std::stop_token& /*stop*/) override {
    kube::HttpReply reply;
    reply.status = 200;
    reply.content_type = "application/json";
    reply.body = Next();
    return reply;
  }
  Result<kube::HttpReply> Stream(const kube::HttpRequest&, kube::ByteSink&,
                                 const std::stop_token&) override {
    return UnimplementedError("no stream");
  }
  std::string Next() {
    const std::size_t end = rest_.find('\n');
    std::string line(rest_.substr(0, end));
    rest_ = end == rest_.npos ? std::string_view() : rest_.substr(end + 1);
    return line;
  }

 private:
  std::string_view rest_;
};

bool Says(const std::string& line, std::string_view member) {
  const auto review = kube::ParseServerJson(line);
  if (!review.ok()) return false;
  const Json* value = kube::FindPath(*review, {"status", member});
  return value != nullptr && value->AsBool().value_or(false);
}

}  // namespace

/// Answers that decide whom replicas believe and who reads the metrics: the openid configuration
/// with the key set, a TokenReview with the SubjectAccessReview. Whatever they are, keys have an
/// issuer, and nobody reads without two that say so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  SetLogLevel(LogLevel::kError);
  const std::string_view lines(reinterpret_cast<const char*>(data), size);
  kube::RateLimiter limiter({.per_second = 1e6, .burst = 1'000'000});
  pstrain::testing::RecordingPause pause;
  Answers keys_answers(lines);
  kube::ApiClient keys_client(keys_answers, limiter, pause, {.retries = 0});
  job::IssuerKeyReader reader(keys_client);
  const auto reading = reader.Read(plan::Time{std::chrono::seconds(1'700'000'000)}, {});
  if (reading.ok() && (reading->keys == nullptr) != reading->problem.has_value()) std::abort();
  if (reading.ok() && reading->keys != nullptr) {
    if (reading->keys->issuer.empty() || !kube::ParseServerJson(reading->keys->jwks).ok())
      std::abort();
  }
  Answers reviews(lines);
  kube::ApiClient reviewer(reviews, limiter, pause, {.retries = 0});
  const ManualClock clock{std::chrono::seconds(1000)};
  MetricsAccess access(reviewer, clock);
  const auto refusal =
      access.Check({.method = "GET", .path = "/metrics", .authorization = "Bearer t"});
  Answers again(lines);
  const bool known = Says(again.Next(), "authenticated");
  const bool allowed = Says(again.Next(), "allowed");
  if (!refusal && !(known && allowed)) std::abort();
  return 0;
}
