#include "runtime/rpc/identity/published.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/log.h"
#include "base/os/files.h"
#include "runtime/rpc/identity/jwt.h"
#include "runtime/stats/token_errors.h"

namespace pstrain {

TokenFiles::TokenFiles(std::string folder, const Clock* clock)
    : clock_(clock == nullptr ? real_clock_ : *clock), folder_(std::move(folder)) {}

Result<std::string> TokenFiles::Token(Audience audience) const {
  const MutexLock lock(mutex_);
  PSTRAIN_RETURN_IF_ERROR(Refresh(audience));
  return kept_[static_cast<std::size_t>(audience)].token;
}

std::optional<std::int64_t> TokenFiles::Expires() const {
  const MutexLock lock(mutex_);
  std::optional<std::int64_t> first;
  for (const Audience audience : {Audience::kChief, Audience::kPs}) {
    // What is wrong is in the log.
    static_cast<void>(Refresh(audience));
    const Kept& kept = kept_[static_cast<std::size_t>(audience)];
    if (kept.expires) first = std::min(first.value_or(*kept.expires), *kept.expires);
  }
  return first;
}

Status TokenFiles::Refresh(Audience audience) const {
  Kept& kept = kept_[static_cast<std::size_t>(audience)];
  const std::chrono::nanoseconds now = clock_.Now();
  if (kept.read && now - *kept.read < kReadAgain) return OkStatus();
  const std::string file = JoinPath(folder_, RoleName(RoleOf(audience)));
  const Result<std::string> text = ReadFile(file);
  const Status state = TakeText(text, kept);
  if (kept.in_order && !state.ok()) {
    LogWarning("rpc", "this replica's token is not renewed; others will refuse it, or do already",
               {{"file", file}, {"error", state}});
  } else if (!kept.in_order && state.ok()) {
    LogInfo("rpc", "this replica's token is good again", {{"file", file}});
  }
  kept.in_order = state.ok();
  if (!text.ok() && !kept.read) return text.status();
  kept.read = now;
  return OkStatus();
}

Status TokenFiles::TakeText(const Result<std::string>& text, Kept& kept) const {
  PSTRAIN_RETURN_IF_ERROR(text.status());
  kept.token = *text;
  while (kept.token.ends_with('\n')) kept.token.pop_back();
  const Result<Jwt> jwt = ParseJwt(kept.token);
  kept.expires = jwt.ok() ? std::optional(jwt->expires) : std::nullopt;
  PSTRAIN_RETURN_IF_ERROR(jwt.status());
  const std::int64_t late = clock_.UnixMillis() / 1000 - jwt->expires;
  if (late < 0) return OkStatus();
  return PassingTokenError(kWrongTime, "it expired " + std::to_string(late) + " s ago");
}

PublishedKeys::PublishedKeys(std::string file, const Clock* clock)
    : clock_(clock == nullptr ? real_clock_ : *clock), file_(std::move(file)) {}

std::shared_ptr<const KeySet> PublishedKeys::Current() {
  const MutexLock lock(mutex_);
  const std::chrono::nanoseconds now = clock_.Now();
  if (read_ && now - *read_ < kReadAgain) return keys_;
  read_ = now;
  const Result<std::string> text = ReadFile(file_);
  Result<KeySet> keys = text.ok() ? KeySet::FromJwks(*text) : Result<KeySet>(text.status());
  if (keys.ok()) {
    keys_ = std::make_shared<const KeySet>(std::move(keys).value());
  } else {
    LogWarning("rpc", "the keys that tokens are signed by cannot be read",
               {{"file", file_}, {"error", keys.status()}});
  }
  return keys_;
}

}  // namespace pstrain
