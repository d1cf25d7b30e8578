#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/os/files.h"
#include "cli/commands.h"
#include "cli/manifest/data_check.h"
#include "cli/run_ending.h"
#include "cli/run_options.h"
#include "local/chaos.h"
#include "local/grant_barrier_files.h"
#include "local/guard.h"
#include "local/history/run_recorder.h"
#include "local/local_job.h"
#include "local/progress_view.h"
#include "local/replicas/launcher.h"
#include "local/replicas/workspace.h"
#include "local/restored_loss.h"
#include "local/run_report.h"
#include "local/run_session.h"
#include "proto/contract/exit_codes.h"
#include "proto/contract/replica_specs.h"
#include "proto/job/job_manifest.h"

namespace pstrain {
namespace {

/// Where this program lies, and the agent and the runtime beside it.
Result<std::string> ProgramDirectory() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return InternalError("read /proc/self/exe: " + error.message());
  return self.parent_path().string();
}

/// A run whose options, manifest and directories are in order.
struct PreparedRun {
  RunOptions options;
  std::string run_id;
  local::SessionOptions session;
  /// What a person is told before anything is started.
  std::vector<std::string> notes;
};

int RunPrepared(const PreparedRun& run, const local::Launcher& launcher,
                const local::Workspace& workspace) {
  const RealClock clock;
  const PSTrainingJob& job = launcher.job();
  const int epochs = job.spec().has_training() ? job.spec().training().epochs() : 0;
  local::ProgressView view(job.metadata().name(), stderr, local::IsTerminal(stderr), epochs);
  for (const std::string& note : run.notes) view.Say(note);
  view.Say("run " + run.run_id + (run.options.resume ? " continues" : "") + "; logs in " +
           workspace.File("logs"));
  local::BlockSessionSignals();
  local::LocalJob local_job(launcher, workspace, clock);
  Result<local::RestoredLoss> restored =
      run.options.resume ? local::RestoredLoss::Await(job, run.run_id) : local::RestoredLoss();
  if (!restored.ok()) return FailRun(run.options, restored.status());
  Result<local::GrantBarrierFiles> barriers = local::GrantBarrierFiles::Open(job, run.run_id);
  if (!barriers.ok()) return FailRun(run.options, barriers.status());
  Result<local::RunRecorder> recorder = local::RunRecorder::Open(
      workspace, run.run_id, run.options.resume, epochs,
      {.csv = run.options.history, .tensorboard = run.options.tensorboard});
  if (!recorder.ok()) return FailRun(run.options, recorder.status());
  const SteadyTime begin = clock.Steady();
  const auto seconds = [&] {
    return std::chrono::duration<double>(clock.Steady() - begin).count();
  };
  local::SessionOptions session_options = run.session;
  session_options.block_grants = [&](const std::set<double>& percents) {
    return barriers->Set(percents);
  };
  session_options.observe_chief = [&](const local::AgentReading& chief) {
    const Status shown = restored->Update(chief, view, run.options.json ? stdout : nullptr);
    if (!shown.ok()) view.Say(shown.message());
    recorder->Observe(chief, seconds());
  };
  session_options.observe_event = [&](const std::string& event) {
    recorder->Event(event, seconds());
  };
  local::RunSession session(local_job, std::move(session_options), view);
  const Result<local::SessionEnd> end = session.Run();
  if (!end.ok()) return FailRun(run.options, end.status());

  local::RunOutcome outcome;
  outcome.job = job.metadata().name();
  outcome.state = StateName(*end);
  outcome.run_id = run.run_id;
  outcome.resumed = run.options.resume;
  outcome.seconds = seconds();
  outcome.readings = local_job.replicas().readings();
  outcome.kills = session.kills();
  const EndedRun ended{
      run.options, local_job, workspace, *recorder, job.spec(), *end, session.AllKillsFired()};
  ShowLogs(ended);
  if (RemovesLogs(job.spec()) && plan::IsFinished(local_job.status())) {
    const Status removed = RemoveAll(workspace.File("logs"));
    if (!removed.ok()) view.Say("the logs stay: " + removed.message());
  }
  Result<Json> result = local::ReadRunResult(job, run.run_id, *end == local::SessionEnd::kStopped);
  if (!result.ok()) return FailRun(run.options, result.status());
  outcome.result = std::move(result).value();
  recorder->Finish(outcome.result, outcome.seconds);
  outcome.skipped = local::SkippedRecords(job, run.run_id);
  return TellEnd(ended, std::move(outcome));
}

/// What needs to know when a run ends.
Status CheckProgram(const RunOptions& options, const JobSpec& spec) {
  if (!spec.has_program() || options.stop_at.empty()) return OkStatus();
  return InvalidArgumentError(
      "--stop-at: nobody knows when a program ends; stop it by Ctrl-C, or let the program end");
}

int Run(RunOptions options) {
  const Result<PSTrainingJob> job = LoadJobManifest(
      options.manifest, {.allow_test_only = options.allow_test_only, .overrides = options.sets});
  if (!job.ok()) return RefuseRun(options, job.status().message());
  PreparedRun run;
  Result<std::vector<local::ChaosKill>> kills = local::ParseChaos(options.chaos, job->spec());
  if (!kills.ok()) return RefuseUsage(options, kills.status());
  run.session.kills = std::move(kills).value();
  const Result<std::optional<double>> stop_at = ParsePercent(options.stop_at);
  if (!stop_at.ok()) return RefuseUsage(options, stop_at.status());
  if (Status able = CheckProgram(options, job->spec()); !able.ok()) {
    return RefuseUsage(options, able);
  }
  run.session.stop_at_percent = *stop_at;
  Result<std::map<std::string, std::string>> volumes = ParseVolumes(options.volumes);
  if (!volumes.ok()) return RefuseUsage(options, volumes.status());

  const Result<std::string> program_dir = ProgramDirectory();
  if (!program_dir.ok()) return FailRun(options, program_dir.status());
  const Result<local::Workspace> workspace =
      local::Workspace::Open(options.state_dir, job->metadata().name());
  if (!workspace.ok()) return FailRun(options, workspace.status());
  const Result<std::string> run_id =
      options.resume ? workspace->LastRunId() : local::Workspace::FreshRunId();
  if (!run_id.ok()) return FailRun(options, run_id.status());
  run.run_id = *run_id;
  const Result<local::Launcher> launcher =
      local::Launcher::Create(*job, *workspace,
                              {.program_dir = *program_dir,
                               .run_id = *run_id,
                               .volumes = std::move(volumes).value(),
                               .allow_test_only = options.allow_test_only});
  if (!launcher.ok()) {
    return launcher.status().code() == StatusCode::kInvalidArgument
               ? RefuseUsage(options, launcher.status())
               : FailRun(options, launcher.status());
  }
  DataFindings found = CheckJobData(launcher->job(), launcher->volumes(), options.manifest + ": ");
  if (!found.problems.empty()) return RefuseRun(options, found.problems);
  run.notes = launcher->notes();
  std::ranges::move(found.matched, std::back_inserter(run.notes));
  // Only now: what was refused above has left the run before as it was.
  const std::string& checkpoints = CheckpointOf(launcher->job().spec()).directory();
  const Status begun = options.resume ? workspace->ResumeRun(*run_id, checkpoints)
                                      : workspace->BeginRun(*run_id, checkpoints);
  if (!begun.ok()) return FailRun(options, begun);
  run.options = std::move(options);
  return RunPrepared(run, *launcher, *workspace);
}

}  // namespace

int RunCommand(const std::vector<std::string>& args) {
  Result<RunOptions> options = ParseRunOptions(args);
  if (!options.ok()) {
    RunOptions unread;
    unread.json = std::find(args.begin(), args.end(), "--json") != args.end();
    return RefuseUsage(unread, options.status());
  }
  if (options->help) {
    std::fputs(kRunUsage, stdout);
    return kExitSuccess;
  }
  return local::RunGuarded([&] { return Run(std::move(options).value()); });
}

}  // namespace pstrain
