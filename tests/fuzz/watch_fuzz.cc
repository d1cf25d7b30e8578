#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "operator/kube/api_client.h"
#include "operator/kube/object_meta.h"
#include "operator/kube/watch.h"

namespace pstrain::kube {
namespace {

/// Answers every stream with the same bytes in pieces of the same length.
class FixedTransport final : public Transport {
 public:
  FixedTransport(std::string_view bytes, std::size_t piece) : bytes_(bytes), piece_(piece) {}
  Result<HttpReply> Send(const HttpRequest&, const std::stop_token&) override {
    return HttpReply{.status = 500, .content_type = {}, .retry_after = {}, .body = {}};
  }
  Result<HttpReply> Stream(const HttpRequest&, ByteSink& sink, const std::stop_token&) override {
    for (std::size_t at = 0; at < bytes_.size(); at += piece_) {
      PSTRAIN_RETURN_IF_ERROR(sink.Write(bytes_.substr(at, piece_)));
    }
    return HttpReply{.status = 200, .content_type = {}, .retry_after = {}, .body = {}};
  }

 private:
  const std::string_view bytes_;
  const std::size_t piece_;
};

class NoPause final : public Pause {
 public:
  bool For(std::chrono::nanoseconds, const std::stop_token&) override { return false; }
};

struct Seen {
  std::size_t events = 0;
  WatchEnd end;
};

Seen WatchPieces(std::string_view bytes, std::size_t piece) {
  FixedTransport transport(bytes, piece);
  RateLimiter limiter({.per_second = 1e9, .burst = 1 << 20, .permits = 1, .lease_permits = 1});
  NoPause pause;
  ApiClient client(transport, limiter, pause, {});
  Seen seen;
  seen.end = Watch(client, PodResource(), {.resource_version = "1", .max_event_bytes = 4096},
                   [&seen](const WatchEvent& event) {
                     ++seen.events;
                     static_cast<void>(DecodeObjectMeta(event.object, {"a"}));
                     return OkStatus();
                   },
                   {});
  return seen;
}

}  // namespace
}  // namespace pstrain::kube

/// A watch gives the same events and ends in the same way however its bytes are cut; it never ends
/// without a version to go on from. The first byte is the length of a piece.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using pstrain::kube::WatchPieces;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto cut = WatchPieces(bytes, data[0] % 16U + 1U);
  const auto whole = WatchPieces(bytes, bytes.size() + 1);
  if (cut.end.resource_version.empty() || cut.events != whole.events ||
      cut.end.resource_version != whole.end.resource_version ||
      cut.end.error.has_value() != whole.end.error.has_value()) {
    std::abort();
  }
  return 0;
}
