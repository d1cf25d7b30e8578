#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/os/files.h"
#include "base/text/parse_number.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "local/chaos.h"
#include "local/grant_barrier_files.h"
#include "local/guard.h"
#include "local/local_job.h"
#include "local/progress_view.h"
#include "local/replicas/launcher.h"
#include "local/replicas/workspace.h"
#include "local/restored_loss.h"
#include "local/run_report.h"
#include "local/run_session.h"
#include "proto/contract/exit_codes.h"
#include "proto/job/job_manifest.h"

namespace pstrain {
namespace {

constexpr const char* kRunUsage =
    "usage: pstrain run JOB.yaml [options]\n"
    "\n"
    "Runs a PSTrainingJob on this machine: every replica is a process, restarted by the rules "
    "that\n"
    "the operator uses. Ctrl-C stops the job, saves its work and prints how to continue; a\n"
    "second Ctrl-C kills it.\n"
    "\n"
    "  --set PATH=VALUE       set a field of the manifest, e.g. spec.replicaSpecs.ps.replicas=3;\n"
    "                         may be repeated\n"
    "  --volume NAME=DIR      the directory to use for the volume NAME\n"
    "                         (default STATE_DIR/JOB/volumes/NAME); may be repeated\n"
    "  --state-dir DIR        where logs, run ids and volumes lie (default .pstrain)\n"
    "  --resume               continue the last run of this job\n"
    "  --stop-at PERCENT      stop, as by Ctrl-C, when this percentage of the training is done\n"
    "  --chaos LIST           kill replicas: ROLE[:INDEX]@PERCENT[:kill|term|agent],...\n"
    "                         kill: SIGKILL to the training process (default); term: SIGTERM to\n"
    "                         the replica; agent: SIGKILL to the whole replica\n"
    "  --json                 print one line of JSON on stdout at the end\n"
    "  --allow-test-only      admit fields and fail points that only pstrain's own tests use\n"
    "\n"
    "exit code: 0 succeeded or stopped, 1 failed, 2 wrong usage or a bad manifest, 3 a kill of\n"
    "--chaos did not fire\n";

constexpr std::size_t kLogLinesShown = 15;

struct RunOptions {
  std::string manifest;
  std::vector<std::string> sets;
  std::vector<std::string> volumes;
  std::string state_dir = ".pstrain";
  std::string stop_at;
  std::string chaos;
  bool resume = false;
  bool json = false;
  bool allow_test_only = false;
  bool help = false;
};

Result<RunOptions> ParseOptions(const std::vector<std::string>& args) {
  RunOptions options;
  ArgumentParser parser;
  parser.AddList("--set", options.sets);
  parser.AddList("--volume", options.volumes);
  parser.AddValue("--state-dir", options.state_dir);
  parser.AddValue("--stop-at", options.stop_at);
  parser.AddValue("--chaos", options.chaos);
  parser.AddFlag("--resume", options.resume);
  parser.AddFlag("--json", options.json);
  parser.AddFlag("--allow-test-only", options.allow_test_only);
  parser.AddFlag("--help", options.help);
  parser.AddFlag("-h", options.help);
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::string> positionals, parser.Parse(args));
  if (options.help) return options;
  if (positionals.size() != 1)
    return InvalidArgumentError("give one manifest: pstrain run JOB.yaml");
  options.manifest = positionals.front();
  return options;
}

Result<std::map<std::string, std::string>> ParseVolumes(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> volumes;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      return InvalidArgumentError("--volume " + text + ": the form is NAME=DIR");
    }
    volumes[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return volumes;
}

Result<std::optional<double>> ParsePercent(const std::string& text) {
  if (text.empty()) return std::optional<double>();
  const std::optional<double> value = ParseNumber<double>(text);
  if (!value || *value < 0 || *value > 100) {
    return InvalidArgumentError("--stop-at " + text + ": must be a number from 0 to 100");
  }
  return value;
}

int UsageError(const Status& status) {
  std::fprintf(stderr, "pstrain run: %s\ntry: pstrain run --help\n", status.message().c_str());
  return kExitUsage;
}

int Failure(const Status& status) {
  std::fprintf(stderr, "pstrain run: %s\n", status.message().c_str());
  return kExitFailure;
}

/// Where this program lies, and the agent and the runtime beside it.
Result<std::string> ProgramDirectory() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return InternalError("read /proc/self/exe: " + error.message());
  return self.parent_path().string();
}

std::string Quote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string ResumeCommand(const RunOptions& options) {
  std::string command = "pstrain run " + Quote(options.manifest);
  for (const std::string& set : options.sets) command += " --set " + Quote(set);
  for (const std::string& volume : options.volumes) command += " --volume " + Quote(volume);
  if (options.state_dir != ".pstrain") command += " --state-dir " + Quote(options.state_dir);
  if (options.allow_test_only) command += " --allow-test-only";
  return command + " --resume";
}

void PrintLogEnd(const std::string& file) {
  const Result<std::string> text = ReadFile(file);
  if (!text.ok()) return;
  std::size_t begin = text->size();
  for (std::size_t lines = 0; begin > 0; --begin) {
    if ((*text)[begin - 1] == '\n' && begin != text->size() && ++lines == kLogLinesShown) break;
  }
  std::fprintf(stderr, "--- the last lines of %s\n%s", file.c_str(), text->c_str() + begin);
}

/// cleanPodPolicy All: with a pod goes its log, once the job has ended.
bool RemovesLogs(const JobSpec& spec) {
  return spec.run_policy().clean_pod_policy() == RunPolicy::All;
}

void ExplainFailure(const local::LocalJob& job, const JobSpec& spec,
                    const local::Workspace& workspace) {
  std::fprintf(stderr, "job failed: %s\n", job.FailureText().c_str());
  constexpr std::size_t kLogsShown = 2;
  const auto& crashed = job.crashed();
  const std::size_t first = crashed.size() > kLogsShown ? crashed.size() - kLogsShown : 0;
  for (std::size_t i = first; i < crashed.size(); ++i) {
    PrintLogEnd(workspace.LogFile(crashed[i].replica, crashed[i].attempt));
  }
  if (!RemovesLogs(spec)) {
    std::fprintf(stderr, "all logs are in %s\n", workspace.File("logs").c_str());
  }
}

std::string StateName(local::SessionEnd end) {
  switch (end) {
    case local::SessionEnd::kSucceeded:
      return "Succeeded";
    case local::SessionEnd::kStopped:
      return "Stopped";
    case local::SessionEnd::kFailed:
    case local::SessionEnd::kAborted:
      break;
  }
  return "Failed";
}

int ExitCode(local::SessionEnd end, bool all_kills_fired) {
  if (end == local::SessionEnd::kFailed || end == local::SessionEnd::kAborted) return kExitFailure;
  return all_kills_fired ? kExitSuccess : kExitKillNotFired;
}

/// Not only the chief says that a run is complete: its result is checked again. False when that
/// does not hold; the outcome then says why.
bool Proven(local::SessionEnd end, const JobSpec& spec, local::RunOutcome& outcome) {
  if (end != local::SessionEnd::kSucceeded || !spec.has_training()) return true;
  const Status checked = local::CheckRunResult(outcome.result);
  if (checked.ok()) return true;
  outcome.state = StateName(local::SessionEnd::kFailed);
  outcome.reason = "ResultNotProven: " + checked.message();
  std::fprintf(stderr, "job failed: %s; do not use the result\n", outcome.reason.c_str());
  return false;
}

void PrintReport(const Json& report, bool json) {
  if (json) {
    std::printf("%s\n", WriteJson(report).c_str());
  } else {
    std::printf("%s", local::DescribeRun(report).c_str());
  }
  std::fflush(stdout);
}

/// A run whose options, manifest and directories are in order.
struct PreparedRun {
  RunOptions options;
  std::string run_id;
  local::SessionOptions session;
};

int RunPrepared(const PreparedRun& run, const local::Launcher& launcher,
                const local::Workspace& workspace) {
  const RealClock clock;
  const PSTrainingJob& job = launcher.job();
  const bool terminal = isatty(STDERR_FILENO) == 1;
  local::ProgressView view(job.metadata().name(), stderr, terminal);
  for (const std::string& note : launcher.notes()) view.Say(note);
  view.Say("run " + run.run_id + (run.options.resume ? " continues" : "") + "; logs in " +
           workspace.File("logs"));
  local::BlockSessionSignals();
  local::LocalJob local_job(launcher, workspace, clock);
  Result<local::RestoredLoss> restored =
      run.options.resume ? local::RestoredLoss::Await(job, run.run_id) : local::RestoredLoss();
  if (!restored.ok()) return Failure(restored.status());
  Result<local::GrantBarrierFiles> barriers = local::GrantBarrierFiles::Open(job, run.run_id);
  if (!barriers.ok()) return Failure(barriers.status());
  local::SessionOptions session_options = run.session;
  session_options.block_grants = [&](const std::set<double>& percents) {
    return barriers->Set(percents);
  };
  session_options.observe_chief = [&](const local::AgentReading& chief) {
    const Status shown = restored->Update(chief, view, run.options.json ? stdout : nullptr);
    if (!shown.ok()) view.Say(shown.message());
  };
  local::RunSession session(local_job, std::move(session_options), view);
  const SteadyTime begin = clock.Steady();
  const Result<local::SessionEnd> end = session.Run();
  if (!end.ok()) return Failure(end.status());

  local::RunOutcome outcome;
  outcome.job = job.metadata().name();
  outcome.state = StateName(*end);
  outcome.run_id = run.run_id;
  outcome.resumed = run.options.resume;
  outcome.seconds = std::chrono::duration<double>(clock.Steady() - begin).count();
  outcome.readings = local_job.replicas().readings();
  outcome.kills = session.kills();
  if (*end == local::SessionEnd::kFailed) {
    outcome.reason = local_job.FailureText();
    ExplainFailure(local_job, job.spec(), workspace);
  }
  if (RemovesLogs(job.spec()) && plan::IsFinished(local_job.status())) {
    const Status removed = RemoveAll(workspace.File("logs"));
    if (!removed.ok()) view.Say("the logs stay: " + removed.message());
  }
  if (*end == local::SessionEnd::kAborted) outcome.reason = "killed by a signal";
  Result<Json> result = local::ReadRunResult(job, run.run_id, *end == local::SessionEnd::kStopped);
  if (!result.ok()) return Failure(result.status());
  outcome.result = std::move(result).value();
  const bool proven = Proven(*end, job.spec(), outcome);
  const Json report = local::MakeRunReport(outcome, job.spec());
  if (*end != local::SessionEnd::kSucceeded) {
    std::fprintf(stderr, "to continue: %s\n", ResumeCommand(run.options).c_str());
  }
  if (!session.AllKillsFired()) {
    std::fprintf(stderr, "pstrain run: a kill of --chaos did not fire before the last commit\n");
  }
  PrintReport(report, run.options.json);
  return proven ? ExitCode(*end, session.AllKillsFired()) : kExitFailure;
}

int Run(RunOptions options) {
  const Result<PSTrainingJob> job = LoadJobManifest(
      options.manifest, {.allow_test_only = options.allow_test_only, .overrides = options.sets});
  if (!job.ok()) {
    std::fprintf(stderr, "%s\n", job.status().message().c_str());
    return kExitUsage;
  }
  PreparedRun run;
  Result<std::vector<local::ChaosKill>> kills = local::ParseChaos(options.chaos, job->spec());
  if (!kills.ok()) return UsageError(kills.status());
  run.session.kills = std::move(kills).value();
  const Result<std::optional<double>> stop_at = ParsePercent(options.stop_at);
  if (!stop_at.ok()) return UsageError(stop_at.status());
  run.session.stop_at_percent = *stop_at;
  Result<std::map<std::string, std::string>> volumes = ParseVolumes(options.volumes);
  if (!volumes.ok()) return UsageError(volumes.status());

  const Result<std::string> program_dir = ProgramDirectory();
  if (!program_dir.ok()) return Failure(program_dir.status());
  const Result<local::Workspace> workspace =
      local::Workspace::Open(options.state_dir, job->metadata().name());
  if (!workspace.ok()) return Failure(workspace.status());
  const Result<std::string> run_id =
      options.resume ? workspace->LastRunId() : local::Workspace::FreshRunId();
  if (!run_id.ok()) return Failure(run_id.status());
  run.run_id = *run_id;
  const Result<local::Launcher> launcher =
      local::Launcher::Create(*job, *workspace,
                              {.program_dir = *program_dir,
                               .run_id = *run_id,
                               .volumes = std::move(volumes).value(),
                               .allow_test_only = options.allow_test_only});
  if (!launcher.ok()) {
    return launcher.status().code() == StatusCode::kInvalidArgument ? UsageError(launcher.status())
                                                                    : Failure(launcher.status());
  }
  // Only now: what was refused above has left the run before as it was.
  const std::string& checkpoints = launcher->job().spec().training().checkpoint().directory();
  const Status begun = options.resume ? workspace->ResumeRun(*run_id, checkpoints)
                                      : workspace->BeginRun(*run_id, checkpoints);
  if (!begun.ok()) return Failure(begun);
  run.options = std::move(options);
  return RunPrepared(run, *launcher, *workspace);
}

}  // namespace

int RunCommand(const std::vector<std::string>& args) {
  Result<RunOptions> options = ParseOptions(args);
  if (!options.ok()) return UsageError(options.status());
  if (options->help) {
    std::fputs(kRunUsage, stdout);
    return kExitSuccess;
  }
  return local::RunGuarded([&] { return Run(std::move(options).value()); });
}

}  // namespace pstrain
