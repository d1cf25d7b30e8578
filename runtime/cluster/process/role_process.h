#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "runtime/cluster/fail_points.h"
#include "runtime/cluster/job_settings.h"
#include "runtime/cluster/process/stop_on_signal.h"
#include "runtime/cluster/process/task.h"
#include "runtime/cluster/process_end.h"
#include "runtime/cluster/role_context.h"
#include "runtime/rpc/identity/identity.h"
#include "runtime/rpc/identity/token_watch.h"
#include "runtime/stats/stats_writer.h"

namespace pstrain {

/// A process that plays a role of a job: what its environment gives the role (numbers, identity,
/// fail points), the signals that stop it, and the way in which it ends. Owner: main, which has
/// blocked the signals (BlockStopSignals) and has one; outlives the role.
class RoleProcess {
 public:
  /// `program`: what lines on standard error begin with. INVALID_ARGUMENT: the stats page that the
  /// environment names is none.
  static Result<std::unique_ptr<RoleProcess>> Open(std::string program, Task task,
                                                   JobSettings settings);
  RoleProcess(const RoleProcess&) = delete;
  RoleProcess& operator=(const RoleProcess&) = delete;

  const Task& task() const { return task_; }
  /// What the role is given; refers to this. Once. The error names the variable or the file.
  Result<RoleContext> Context();
  /// The exit code of a role that has ended so. An error is said on standard error, of which the
  /// agent tells the last line. Any thread.
  int ExitCodeOf(const Result<int>& outcome) const;

 private:
  RoleProcess(std::string program, Task task, JobSettings settings,
              std::unique_ptr<StatsWriter> stats);
  Status ReadFailPoints();
  Status ReadIdentity();
  void PrintError(const Status& status) const;
  /// Says on standard error why no attempt can succeed, and writes it where the agent looks for it.
  void StateFailure(std::string_view reason, const Status& status) const;

  const std::string program_;
  const Task task_;
  const JobSettings settings_;
  const std::unique_ptr<StatsWriter> stats_;
  FailPoints fail_points_;
  std::unique_ptr<Identity> identity_;
  std::unique_ptr<TokenWatch> watch_;
  const StopOnSignal stop_;
  ProcessEnd end_;
};

}  // namespace pstrain
