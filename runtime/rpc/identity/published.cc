#include "runtime/rpc/identity/published.h"

#include <cstddef>
#include <utility>

#include "base/log.h"
#include "base/os/files.h"

namespace pstrain {

TokenFiles::TokenFiles(std::string folder, const Clock* clock)
    : clock_(clock == nullptr ? real_clock_ : *clock), folder_(std::move(folder)) {}

Result<std::string> TokenFiles::Token(Audience audience) const {
  const MutexLock lock(mutex_);
  Kept& kept = kept_[static_cast<std::size_t>(audience)];
  const std::chrono::nanoseconds now = clock_.Now();
  if (kept.read && now - *kept.read < kReadAgain) return kept.token;
  Result<std::string> token = ReadFile(JoinPath(folder_, RoleName(RoleOf(audience))));
  if (!token.ok() && !kept.read) return token.status();
  kept.read = now;
  if (token.ok()) kept.token = std::move(token).value();
  while (kept.token.ends_with('\n')) kept.token.pop_back();
  return kept.token;
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
