#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "runtime/rpc/request_handler.h"
#include "runtime/rpc/transport.h"

namespace pstrain {

inline constexpr std::chrono::seconds kPatience{30};

inline std::chrono::steady_clock::time_point SteadyNow() {
  return std::chrono::steady_clock::time_point(RealClock{}.Now());
}
inline std::chrono::steady_clock::time_point Soon() { return SteadyNow() + kPatience; }

/// Answers op 1 with its body, fails op 2 with ABORTED and the body as text, keeps any other op's
/// responders until Release or Drop.
class EchoHandler final : public RequestHandler {
 public:
  void OnRequest(std::uint16_t op, Bytes body, Responder responder) override {
    if (op == 1) return responder.Reply({std::move(body)});
    if (op == 2) return responder.Fail(AbortedError(std::string(body.view())));
    {
      MutexLock lock(mutex_);
      kept_.emplace_back(std::move(body), std::move(responder));
    }
    changed_.NotifyAll();
  }

  bool WaitForKept(std::size_t count) {
    const auto deadline = Soon();
    MutexLock lock(mutex_);
    while (kept_.size() < count) {
      if (!changed_.WaitUntil(mutex_, deadline) && kept_.size() < count) return false;
    }
    return true;
  }
  void Release() {
    for (auto& [body, responder] : Take()) responder.Reply({std::move(body)});
  }
  void Drop() { Take().clear(); }

 private:
  std::vector<std::pair<Bytes, Responder>> Take() {
    MutexLock lock(mutex_);
    return std::exchange(kept_, {});
  }

  Mutex mutex_;
  CondVar changed_;
  std::vector<std::pair<Bytes, Responder>> kept_ PSTRAIN_GUARDED_BY(mutex_);
};

/// Collects replies.
class Replies {
 public:
  explicit Replies(std::size_t count) : replies_(count) {}

  ReplyCallback Callback(std::size_t i) {
    return [this, i](Result<Bytes> reply) {
      MutexLock lock(mutex_);
      replies_[i] = std::move(reply);
      ++arrived_;
      changed_.NotifyAll();
    };
  }
  bool WaitForAll() {
    const auto deadline = Soon();
    MutexLock lock(mutex_);
    while (arrived_ < replies_.size()) {
      if (!changed_.WaitUntil(mutex_, deadline) && arrived_ < replies_.size()) return false;
    }
    return true;
  }
  std::size_t arrived() {
    MutexLock lock(mutex_);
    return arrived_;
  }
  Result<Bytes> at(std::size_t i) {
    MutexLock lock(mutex_);
    return replies_[i] ? *replies_[i] : Result<Bytes>(InternalError("no reply yet"));
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::optional<Result<Bytes>>> replies_ PSTRAIN_GUARDED_BY(mutex_);
  std::size_t arrived_ PSTRAIN_GUARDED_BY(mutex_) = 0;
};

/// One call, waited for.
inline Result<Bytes> CallAndWait(Connection& connection, std::uint16_t op, const std::string& body,
                                 std::chrono::milliseconds timeout = kPatience) {
  Replies replies(1);
  connection.Call(op, {Bytes::FromString(body)}, SteadyNow() + timeout, replies.Callback(0));
  if (!replies.WaitForAll()) return InternalError("no callback");
  return replies.at(0);
}

}  // namespace pstrain
