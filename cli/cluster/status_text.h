#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/text/json.h"

namespace pstrain::cluster {

using Now = std::chrono::system_clock::time_point;

/// "45s", "12m", "3h20m", "5d" since an RFC 3339 time; "-" where there is none. Pure; any thread.
std::string Age(const std::string& timestamp, Now now);

/// The rows with each column as wide as its widest cell. Pure; any thread.
std::string Columns(const std::vector<std::vector<std::string>>& rows);

/// One line per job, as `kubectl get pstj`. Pure; any thread.
std::string JobTable(const std::vector<Json>& jobs, Now now);

/// All that the status of a job and its pods say: phase, conditions, replicas with their last ends,
/// restarts by cause, progress. REQUIRES: the job has a status. Pure; any thread.
std::string JobReport(const Json& job, const std::vector<Json>& pods, Now now);

}  // namespace pstrain::cluster
