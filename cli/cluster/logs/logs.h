#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/text/json.h"
#include "cli/cluster/job_reader.h"
#include "cli/cluster/logs/log_lines.h"
#include "cli/cluster/logs/pod_log.h"
#include "cli/cluster/problem.h"
#include "cli/cluster/session.h"
#include "operator/kube/api_error.h"

namespace pstrain::cluster {

/// Which lines `pstrain logs` shows. A value.
struct LogsRequest {
  std::string job;
  std::string role = {};  // empty: all
  std::optional<std::int64_t> index = {};
  bool merge = false;
  bool previous = false;
  bool follow = false;
  bool timestamps = false;
  std::optional<std::int64_t> tail = {};
  std::optional<std::chrono::seconds> since = {};
};

/// `pstrain logs`: what the training containers of the newest attempts have written, or with
/// `previous` those before them; "worker-1: " begins each line. Where a pod is gone, it says what
/// the status keeps of its end. Does not own the session. One thread; it starts one for each pod
/// where their lines are merged or followed.
class Logs {
 public:
  explicit Logs(Session& session) : session_(session), reader_(session) {}

  Outcome Show(const LogsRequest& request);

 private:
  /// A replica whose log is asked for.
  struct Source {
    std::string replica;
    PodLogRequest log;
    std::optional<kube::ApiError> error = {};
  };
  struct Found {
    std::vector<Source> sources;
    std::vector<std::string> gone;  // a sentence for each replica without such a pod
  };

  Found Find(const LogsRequest& request, const Json& job, const std::vector<Json>& pods) const;
  std::string Gone(const LogsRequest& request, const std::string& replica,
                   const Json* record) const;
  void ShowOneByOne(const LogsRequest& request, std::vector<Source>& sources);
  void ShowMerged(const LogsRequest& request, std::vector<Source>& sources);
  bool Print(const LogsRequest& request, const Source& source, const LogLine& line);
  Outcome Finish(const LogsRequest& request, const Json& job, const std::vector<Source>& sources);

  Session& session_;
  JobReader reader_;
  bool printed_ = false;
};

}  // namespace pstrain::cluster
