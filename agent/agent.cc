#include "agent/agent.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/agent_metrics.h"
#include "agent/agent_state.h"
#include "agent/error_output.h"
#include "agent/last_words.h"
#include "agent/program_exit.h"
#include "agent/progress.h"
#include "agent/supervisor.h"
#include "base/log.h"
#include "base/metrics/admin_server.h"
#include "base/metrics/collector.h"
#include "base/os/files.h"
#include "base/os/spawn.h"
#include "base/os/unique_fd.h"
#include "proto/contract/exit_codes.h"
#include "proto/contract/stated_failure.h"
#include "proto/contract/stats_page.h"

namespace pstrain {
namespace {

constexpr std::string_view kComponent = "agent";

/// Truncates and writes in place: the kubelet's file is a mount point and cannot be replaced.
Status WriteInPlace(const std::string& path, std::string_view content) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) return ErrnoError(errno, "open " + path);
  const ssize_t written = write(file.get(), content.data(), content.size());
  if (written == static_cast<ssize_t>(content.size())) return OkStatus();
  return ErrnoError(written < 0 ? errno : EIO, "write " + path);
}

void WriteTerminationLog(const AgentOptions& options, std::string_view message) {
  if (options.termination_log.empty()) return;
  const Status status = WriteInPlace(options.termination_log, message);
  if (!status.ok()) LogWarning(kComponent, "no termination message", {{"error", status}});
}

AdminServer::Options AdminOptions(const AgentOptions& options, const AgentState& state,
                                  const StatsPage& page, const MetricsRegistry& registry) {
  AdminServer::Options admin;
  admin.address = options.admin_host;
  admin.port = options.admin_port;
  admin.metrics = &registry;
  admin.ready = [&state, &page]() -> Status {
    if (!state.ChildRuns()) return UnavailableError("the training program does not run");
    if (!RuntimeSaysReady(page)) return UnavailableError("the training program is not ready");
    return OkStatus();
  };
  admin.handlers["/progress"] = [&options, &state, &page] {
    return HttpResponse{200, "application/json",
                        WriteJson(ProgressJson(options.task, state, page)) + "\n"};
  };
  return admin;
}

void ReportExit(const AgentOptions& options, const AgentState& state, const StatsPage& page,
                const ProgramExit& end) {
  if (!options.final_stats_file.empty()) {
    const Status status = WriteFileAtomically(
        options.final_stats_file, WriteJson(FinalStatsJson(options.task, state, page, end)) + "\n");
    if (!status.ok()) LogWarning(kComponent, "the final stats are lost", {{"error", status}});
  }
  WriteTerminationLog(options, TerminationMessage(end, LastStep(page), ValuesJson(page)));
}

/// Where the program states why it exits 87: of this process alone, for the folder may be shared.
std::string FailureFile(const TaskEnv& task) {
  return JoinPath(task.scratch_dir, "pstrain-failure-" + task.replica_type + "-" +
                                        std::to_string(task.replica_index) + "-" +
                                        std::to_string(getpid()));
}

/// What the program has stated; the file is gone afterwards.
std::optional<StatedFailure> TakeStatedFailure(const std::string& file, const ProgramExit& end) {
  if (!FileExists(file)) return std::nullopt;
  const Result<std::string> text = ReadFile(file);
  // Best effort: a file that stays says nothing to the next agent, whose file has another name.
  static_cast<void>(RemoveFile(file));
  if (!text.ok() || end.code != kExitPermanent) return std::nullopt;
  return ParseStatedFailure(*text);
}

Result<ProgramExit> RunAndReport(const AgentOptions& options) {
  AgentState state;
  PSTRAIN_ASSIGN_OR_RETURN(Supervisor supervisor, Supervisor::Make(state));
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<StatsPage> page, StatsPage::Create());
  MetricsRegistry registry;
  registry.Register([&] { return CollectAgentMetrics(options.task, state, *page); });
  const auto admin = AdminServer::Start(AdminOptions(options, state, *page, registry));
  if (!admin.ok()) return admin.status().WithContext(kMetricsAddressEnv);
  LogInfo(kComponent, "serving", {{"url", (*admin)->Url()}});
  const auto cgroup = ReadFile("/proc/self/cgroup");
  const OomWatch oom(options.cgroup_root, cgroup.ok() ? *cgroup : "");
  const std::string failure_file = FailureFile(options.task);
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<ErrorOutput> error_output, ErrorOutput::Make());
  SpawnRequest program{.command = options.command,
                       .environment = {{std::string(kStatsFdEnv), std::to_string(page->fd())},
                                       {std::string(kFailureFileEnv), failure_file}},
                       .inherited_fd = page->fd(),
                       .error_fd = error_output->fd()};
  ProgramExit end =
      supervisor.Run(std::move(program), std::chrono::seconds(options.task.grace_seconds), oom);
  end.last_words = LastWords(error_output->Finish());
  end.failure = TakeStatedFailure(failure_file, end);
  end.exit_0_is_finished = options.exit_0_is_finished;
  ReportExit(options, state, *page, end);
  return end;
}

}  // namespace

int RunAgent(const AgentOptions& options) {
  const auto end = RunAndReport(options);
  if (!end.ok()) {
    LogError(kComponent, end.status().message());
    WriteTerminationLog(options, AgentErrorMessage(end.status().message()));
    return kExitFailure;
  }
  if (!end->started) {
    LogError(kComponent, end->Message());
  } else {
    LogInfo(kComponent, end->Message(), {{"reason", end->Reason()}});
  }
  return end->AgentExitCode();
}

std::string RuntimeBesideThis() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  const std::string self(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return JoinPath(ParentPath(self), "pstrain-runtime");
}

}  // namespace pstrain
