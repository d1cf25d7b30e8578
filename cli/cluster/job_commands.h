#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/text/json.h"
#include "cli/cluster/problem.h"
#include "cli/cluster/status_text.h"
#include "operator/kube/api_client.h"
#include "operator/kube/pause.h"

namespace pstrain::cluster {

/// What a command prints on stdout, and with which code it ends; or why it has no answer.
struct Answer {
  std::string text;
  int exit_code = 0;
};
using Outcome = std::variant<Answer, Problem>;

/// The questions and orders of `pstrain status`, `suspend`, `resume`, `restart`, `wait` and
/// `events` about the jobs of one namespace. One thread; all calls block.
class JobCommands {
 public:
  /// `client` and `pause` are not owned. `now` is asked for ages and for the end of Wait.
  JobCommands(kube::ApiClient& client, kube::Pause& pause, std::string name_space,
              std::function<Now()> now);

  Outcome List(bool json);
  Outcome Status(const std::string& job, bool json);
  /// A merge patch of spec.runPolicy.suspend.
  Outcome Suspend(const std::string& job, bool suspend);
  /// Deletes the pod of a replica as "worker-1", and that pod only.
  Outcome Restart(const std::string& job, const std::string& replica);
  /// Until the job has ended, at most `timeout`: 0 Succeeded, kExitFailure Failed, kExitTimedOut.
  Outcome Wait(const std::string& job, std::optional<std::chrono::seconds> timeout);
  /// Of the job and of its pods that are there, oldest first.
  Outcome Events(const std::string& job);

 private:
  std::variant<Json, Problem> Get(const std::string& job);
  std::variant<std::vector<Json>, Problem> ListOf(const kube::Resource& resource,
                                                  const std::string& label_selector);
  std::variant<std::vector<Json>, Problem> Pods(const std::string& job);
  Problem NoSuchJob(const std::string& job);
  Problem NoStatus(const std::string& job) const;

  kube::ApiClient& client_;
  kube::Pause& pause_;
  const std::string namespace_;
  const std::function<Now()> now_;
};

}  // namespace pstrain::cluster
