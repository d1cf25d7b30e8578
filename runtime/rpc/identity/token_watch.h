#pragma once

#include <cstdint>
#include <functional>
#include <thread>

#include "runtime/rpc/identity/caller.h"

namespace pstrain {

/// Looks at this process' tokens again and again, also while it calls nobody: so a token that the
/// kubelet does not replace is in the log and in a metric before anybody refuses it. Owner: main;
/// its destructor joins its thread.
class TokenWatch {
 public:
  /// Unix seconds at which the first token expires. Called by the constructor and by the thread.
  using Observer = std::function<void(std::int64_t expires)>;

  /// `credentials` outlives it; null, or one that signs its own tokens: there is nothing to watch,
  /// and no thread.
  TokenWatch(const Credentials* credentials, const Observer& told);

 private:
  std::jthread thread_;
};

}  // namespace pstrain
