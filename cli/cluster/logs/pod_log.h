#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "cli/cluster/logs/log_lines.h"
#include "cli/cluster/session.h"
#include "operator/kube/api_error.h"

namespace pstrain::cluster {

/// Which lines of which container. A value.
struct PodLogRequest {
  std::string name_space;
  std::string pod;
  std::string container = {};
  bool follow = false;
  std::optional<std::int64_t> tail = {};
  std::optional<std::chrono::seconds> since = {};
  /// Not before this time stamp, as the apiserver has written it; in place of `tail` and `since`.
  std::string since_time = {};
};

/// Path and query of a pod's log, with time stamps. Pure; any thread.
std::string LogTarget(const PodLogRequest& request);

/// Gives each line of the log to `take` until the log ends or `take` returns false. With `follow` a
/// connection that breaks off or is silent is opened again after its last line, until the apiserver
/// has not answered for a minute. Blocks; any thread. No error where `take` or `stop` has ended it.
std::optional<kube::ApiError> ReadPodLog(Session& session, const PodLogRequest& request,
                                         const LineSink::Take& take, const std::stop_token& stop);

}  // namespace pstrain::cluster
