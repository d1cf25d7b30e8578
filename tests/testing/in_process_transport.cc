#include "tests/testing/in_process_transport.h"

#include <chrono>
#include <memory>

namespace pstrain::testing {
namespace {

using kube::HttpReply;
using kube::HttpRequest;

FakeRequest ToFake(const HttpRequest& request) {
  return {std::string(kube::HttpMethodName(request.method)), request.target, request.content_type,
          request.body};
}

HttpReply FromFake(const FakeReply& fake) {
  HttpReply reply{fake.status, "application/json", std::nullopt, fake.body};
  if (fake.retry_after) reply.retry_after = std::chrono::seconds(*fake.retry_after);
  return reply;
}

/// Wakes the reader of a watch.
struct Bell {
  Mutex mutex;
  CondVar changed;
  bool rung PSTRAIN_GUARDED_BY(mutex) = false;

  void Ring() {
    const MutexLock lock(mutex);
    rung = true;
    changed.NotifyAll();
  }
  void Wait() {
    const MutexLock lock(mutex);
    while (!rung) changed.Wait(mutex);
    rung = false;
  }
};

}  // namespace

InProcessTransport::Break InProcessTransport::NextBreak(kube::HttpMethod method) {
  const MutexLock lock(mutex_);
  if (unreachable_) return Break::kBefore;
  if (breaks_ == 0 || method != break_method_) return Break::kNo;
  --breaks_;
  return break_after_ ? Break::kAfter : Break::kBefore;
}

void InProcessTransport::BreakNext(kube::HttpMethod method, bool after_it_was_done, int times) {
  const MutexLock lock(mutex_);
  break_method_ = method;
  break_after_ = after_it_was_done;
  breaks_ = times;
}

void InProcessTransport::SetUnreachable(bool unreachable) {
  const MutexLock lock(mutex_);
  unreachable_ = unreachable;
}

Result<HttpReply> InProcessTransport::Send(const HttpRequest& request,
                                           const std::stop_token& stop) {
  if (stop.stop_requested()) return CancelledError("stopped");
  const Break broken = NextBreak(request.method);
  if (broken == Break::kBefore) return UnavailableError("connection refused");
  const FakeReply reply = server_.Handle(ToFake(request));
  if (broken == Break::kAfter) return UnavailableError("connection reset");
  return FromFake(reply);
}

Result<HttpReply> InProcessTransport::Stream(const HttpRequest& request, kube::ByteSink& sink,
                                             const std::stop_token& stop) {
  const FakeRequest fake = ToFake(request);
  if (!FakeApiserver::IsWatch(fake)) {
    Result<HttpReply> reply = Send(request, stop);
    if (!reply.ok() || reply->status != 200) return reply;
    PSTRAIN_RETURN_IF_ERROR(sink.Write(reply->body));
    return reply;
  }
  if (NextBreak(request.method) != Break::kNo) return UnavailableError("connection refused");
  Bell bell;
  FakeReply refusal;
  const auto watch = server_.OpenWatch(fake, [&bell] { bell.Ring(); }, refusal);
  if (!watch) return FromFake(refusal);
  const std::stop_callback wake(stop, [&bell] { bell.Ring(); });
  while (!stop.stop_requested()) {
    const FakeApiserver::Watch::Lines news = watch->Poll();
    for (const std::string& line : news.lines) {
      PSTRAIN_RETURN_IF_ERROR(sink.Write(line + "\n"));
    }
    if (news.ended) return FromFake({});
    bell.Wait();
  }
  return CancelledError("stopped");
}

}  // namespace pstrain::testing
