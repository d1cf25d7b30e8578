#include "cli/report/find_history.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/os/files.h"
#include "local/history/run_recorder.h"
#include "local/replicas/last_run.h"

namespace pstrain {
namespace {

Result<ReportFacts> Read(const std::string& state_dir, const std::string& job,
                         const std::string& run_id) {
  const std::string workspace = JoinPath(state_dir, job);
  ReportFacts facts{job, run_id, {}, {}};
  PSTRAIN_ASSIGN_OR_RETURN(facts.points, local::ReadHistory(local::HistoryFile(workspace, run_id)));
  const std::string report = local::ReportFile(workspace, run_id);
  if (!FileExists(report)) return facts;
  PSTRAIN_ASSIGN_OR_RETURN(const std::string text, ReadFile(report));
  Result<Json> json = ParseJson(text);
  if (!json.ok()) return json.status().WithContext(report);
  facts.report = std::move(json).value();
  return facts;
}

}  // namespace

Result<ReportFacts> FindHistory(const std::string& state_dir, const std::string& name) {
  const Result<local::LastRun> last = local::ReadLastRun(JoinPath(state_dir, name));
  if (last.ok()) {
    if (FileExists(local::HistoryFile(JoinPath(state_dir, name), last->run_id))) {
      return Read(state_dir, name, last->run_id);
    }
    return NotFoundError("the course of run " + last->run_id + " of job " + name +
                         " was not kept: it was run by an earlier build, or deleted");
  }
  const std::string run_id = BaseName(name);
  const Result<std::vector<std::string>> jobs = ListDirectory(state_dir);
  for (const std::string& job : jobs.ok() ? *jobs : std::vector<std::string>()) {
    if (FileExists(local::HistoryFile(JoinPath(state_dir, job), run_id))) {
      return Read(state_dir, job, run_id);
    }
  }
  return NotFoundError(name + ": no job or run of that name was run with --state-dir " + state_dir +
                       "; `pstrain runs list` shows what is there");
}

}  // namespace pstrain
