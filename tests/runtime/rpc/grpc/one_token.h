#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "runtime/rpc/identity/caller.h"
#include "runtime/stats/token_errors.h"

namespace pstrain {

/// Knows one bearer token, `good`, of worker 0.
class OneToken final : public CallerVerifier {
 public:
  Result<Caller> Verify(std::string_view token) override {
    if (token != "good") return Status(StatusCode::kUnauthenticated, "no such token");
    return Caller{Role::kWorker, 0, 0, 0};
  }
  Status CheckStillGood(const Caller& /*caller*/) const override {
    return expired ? PassingTokenError(kWrongTime, "expired") : OkStatus();
  }
  std::atomic<bool> expired = false;
};

/// Shows one token to everybody.
class Showing final : public Credentials {
 public:
  explicit Showing(std::string token) : token_(std::move(token)) {}
  Result<std::string> Token(Audience /*audience*/) const override { return token_; }

 private:
  const std::string token_;
};

}  // namespace pstrain
