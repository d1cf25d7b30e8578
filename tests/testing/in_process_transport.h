#pragma once

#include <stop_token>

#include "operator/kube/http/transport.h"
#include "tests/testing/fake_apiserver.h"

namespace pstrain::testing {

/// Reaches a FakeApiserver without a socket. Any thread. Nothing is owned.
class InProcessTransport final : public kube::Transport {
 public:
  explicit InProcessTransport(FakeApiserver& server) : server_(server) {}

  Result<kube::HttpReply> Send(const kube::HttpRequest& request,
                               const std::stop_token& stop) override;
  Result<kube::HttpReply> Stream(const kube::HttpRequest& request, kube::ByteSink& sink,
                                 const std::stop_token& stop) override;

  /// The next `times` calls of this method fail as a connection that breaks off: before the server
  /// has seen the request, or after it has carried it out.
  void BreakNext(kube::HttpMethod method, bool after_it_was_done, int times = 1)
      PSTRAIN_EXCLUDES(mutex_);
  /// While set, all calls fail: the server cannot be reached.
  void SetUnreachable(bool unreachable) PSTRAIN_EXCLUDES(mutex_);

 private:
  enum class Break : std::uint8_t { kNo, kBefore, kAfter };

  Break NextBreak(kube::HttpMethod method) PSTRAIN_EXCLUDES(mutex_);

  FakeApiserver& server_;
  Mutex mutex_;
  kube::HttpMethod break_method_ PSTRAIN_GUARDED_BY(mutex_) = kube::HttpMethod::kGet;
  bool break_after_ PSTRAIN_GUARDED_BY(mutex_) = false;
  int breaks_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  bool unreachable_ PSTRAIN_GUARDED_BY(mutex_) = false;
};

}  // namespace pstrain::testing
