#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "runtime/rpc/identity/caller.h"
#include "runtime/rpc/identity/key_set.h"

namespace pstrain {

/// How old what was read from a mounted volume may be: the kubelet replaces the files while a
/// process runs.
inline constexpr std::chrono::seconds kReadAgain{10};

/// The projected tokens of a pod: files of a folder, named by the roles `chief` and `ps`. The
/// kubelet replaces them when a fifth of their life is left. A file that cannot be read, or whose
/// token has expired, is in the log once, and once more when it is in order again. Any thread.
class TokenFiles final : public Credentials {
 public:
  /// `clock`: null for the machine's; outlives it.
  explicit TokenFiles(std::string folder, const Clock* clock = nullptr);
  /// The last one that could be read when the file cannot be read now.
  Result<std::string> Token(Audience audience) const override;
  bool OthersRenew() const override { return true; }
  std::optional<std::int64_t> Expires() const override;

 private:
  struct Kept {
    std::string token;
    std::optional<std::chrono::nanoseconds> read;
    /// Unix seconds, by the token; nothing when it cannot be parsed.
    std::optional<std::int64_t> expires;
    bool in_order = true;
  };

  /// Reads the file unless it was read a moment ago; its error when it was never read.
  Status Refresh(Audience audience) const PSTRAIN_REQUIRES(mutex_);
  Status TakeText(const Result<std::string>& text, Kept& kept) const PSTRAIN_REQUIRES(mutex_);

  const RealClock real_clock_;
  const Clock& clock_;
  const std::string folder_;
  mutable Mutex mutex_;
  mutable Kept kept_[2] PSTRAIN_GUARDED_BY(mutex_);
};

/// The issuer's public keys in a mounted file. Any thread.
class PublishedKeys {
 public:
  /// `clock`: null for the machine's; outlives it.
  explicit PublishedKeys(std::string file, const Clock* clock = nullptr);
  /// The keys as the file has them, at most kReadAgain ago; those before when it cannot be read;
  /// null when it never could.
  std::shared_ptr<const KeySet> Current();

 private:
  const RealClock real_clock_;
  const Clock& clock_;
  const std::string file_;
  Mutex mutex_;
  std::shared_ptr<const KeySet> keys_ PSTRAIN_GUARDED_BY(mutex_);
  std::optional<std::chrono::nanoseconds> read_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
