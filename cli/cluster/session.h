#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "operator/kube/api_client.h"
#include "operator/kube/pause.h"

namespace pstrain::cluster {

using Now = std::chrono::system_clock::time_point;

/// What every command about the jobs of one namespace works with. Made for one command; what it
/// refers to outlives it. `out` and `tell` are called by one thread at a time; the rest as the
/// types say.
struct Session {
  kube::ApiClient& client;
  kube::Pause& pause;
  const Clock& clock;
  std::string name_space;
  /// Text for stdout, beside the Answer; false when nobody reads it any more.
  std::function<bool(std::string_view)> out;
  /// A line for stderr.
  std::function<void(const std::string&)> tell;

  Now WallTime() const { return Now(std::chrono::milliseconds(clock.UnixMillis())); }
};

}  // namespace pstrain::cluster
