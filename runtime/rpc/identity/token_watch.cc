#include "runtime/rpc/identity/token_watch.h"

#include <optional>
#include <stop_token>

#include "base/mutex.h"
#include "runtime/rpc/identity/published.h"

namespace pstrain {

TokenWatch::TokenWatch(const Credentials* credentials, const Observer& told) {
  if (credentials == nullptr || !credentials->OthersRenew()) return;
  const auto look = [credentials, told] {
    if (const std::optional<std::int64_t> expires = credentials->Expires()) told(*expires);
  };
  look();
  thread_ = std::jthread([look](const std::stop_token& stop) {
    while (PauseFor(kReadAgain, stop)) look();
  });
}

}  // namespace pstrain
