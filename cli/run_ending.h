#pragma once

#include <string>

#include "base/status.h"
#include "cli/run_options.h"
#include "local/history/run_recorder.h"
#include "local/local_job.h"
#include "local/replicas/workspace.h"
#include "local/run_report.h"
#include "local/run_session.h"

namespace pstrain {

/// How `pstrain run` ends: the last line on standard error is the error, and with --json the line
/// on standard output has it as `error`. One thread.

/// Nothing was started: `text` says why, one line an error. Returns kExitUsage.
int RefuseRun(const RunOptions& options, const std::string& text);
/// The same of a command line or of what it names, with the way to the help.
int RefuseUsage(const RunOptions& options, const Status& status);
/// Something here failed, not the job. Returns kExitFailure.
int FailRun(const RunOptions& options, const Status& status);

/// "Succeeded", "Stopped" or "Failed".
std::string StateName(local::SessionEnd end);

/// A session that is over, and what it was of.
struct EndedRun {
  const RunOptions& options;
  const local::LocalJob& job;
  const local::Workspace& workspace;
  const local::RunRecorder& recorder;
  const JobSpec& spec;
  local::SessionEnd end;
  bool all_kills_fired;
};

/// cleanPodPolicy All: with a pod goes its log, once the job has ended.
bool RemovesLogs(const JobSpec& spec);

/// Of a job that failed: the last lines of what crashed, where the failure does not name the cause
/// itself. Before the logs are removed.
void ShowLogs(const EndedRun& run);

/// Keeps the report for `pstrain report`, and prints how to continue where that helps, the report
/// or a summary for people, and the error last. Returns the exit code. `outcome` has its result.
int TellEnd(const EndedRun& run, local::RunOutcome outcome);

}  // namespace pstrain
