// pstrain-runtime: the training process. TF_CONFIG says which role it has; the agent's environment
// (proto/contract/task_env.h) says where its job, run and numbers are.

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/os/allocator.h"
#include "base/os/files.h"
#include "base/text/json.h"
#include "proto/contract/exit_codes.h"
#include "proto/contract/stated_failure.h"
#include "proto/contract/task_env.h"
#include "proto/job/job_manifest.h"
#include "runtime/chief/run_chief.h"
#include "runtime/cluster/cluster_resolver.h"
#include "runtime/cluster/fail_points.h"
#include "runtime/cluster/process_end.h"
#include "runtime/cluster/role_context.h"
#include "runtime/evaluator/run_evaluator.h"
#include "runtime/model/training/training_jobs.h"
#include "runtime/ps/run_ps.h"
#include "runtime/rpc/grpc/tls.h"
#include "runtime/rpc/identity/identity.h"
#include "runtime/rpc/identity/token_watch.h"
#include "runtime/rpc/system_resolver.h"
#include "runtime/stats/role_stats.h"
#include "runtime/worker/run_worker.h"

namespace pstrain {
namespace {

std::optional<std::string> Environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

/// Turns SIGTERM and SIGINT, which every thread has blocked, into a stop request.
class StopOnSignal {
 public:
  StopOnSignal() : thread_([this](const std::stop_token& end) { Run(end); }) {}
  std::stop_token token() const { return source_.get_token(); }

 private:
  void Run(const std::stop_token& end) {
    const sigset_t signals = StopSignals();
    const timespec interval{.tv_sec = 0, .tv_nsec = 100'000'000};
    while (!end.stop_requested()) {
      if (sigtimedwait(&signals, nullptr, &interval) > 0) source_.request_stop();
    }
  }

  std::stop_source source_;
  std::jthread thread_;
};

struct Task {
  TaskEnv env;
  TaskIdentity identity;
  PSTrainingJob job;
  bool test_only = false;
};

Result<Task> ReadTask() {
  Task task;
  PSTRAIN_ASSIGN_OR_RETURN(task.env, FromEnvironment(Environment));
  const std::optional<std::string> tf_config = Environment(kTfConfigEnv);
  if (!tf_config) return InvalidArgumentError("TF_CONFIG is not set");
  PSTRAIN_ASSIGN_OR_RETURN(task.identity, ResolveTask(*tf_config));
  ReadOptions options;
  task.test_only = Environment(kAllowTestOnlyEnv).has_value();
  options.allow_test_only = task.test_only;
  PSTRAIN_ASSIGN_OR_RETURN(task.job, LoadJobManifest(task.env.job_file, options));
  PSTRAIN_RETURN_IF_ERROR(CheckHasTraining(task.job));
  return task;
}

Result<FailPoints> ReadFailPoints(const Task& task) {
  const std::optional<std::string> text = Environment(kFailPointsEnv);
  if (!task.test_only || !text) return FailPoints();
  Result<FailPoints> points =
      FailPoints::Parse(*text,
                        {.role = RoleName(task.identity.role),
                         .index = task.identity.index,
                         .attempt = static_cast<std::uint32_t>(task.env.attempt)},
                        JoinPath(SettingsOf(task.job).checkpoint_directory, task.env.run_id));
  if (!points.ok()) return points.status().WithContext(std::string(kFailPointsEnv));
  return points;
}

Result<std::unique_ptr<Identity>> ReadIdentity(const Task& task) {
  const auto text = [](std::string_view name) { return Environment(name).value_or(std::string()); };
  IdentitySettings settings;
  settings.key_file = text(kIdentityKeyFileEnv);
  settings.tokens = text(kIdentityTokensEnv);
  settings.jwks = text(kIdentityJwksEnv);
  settings.issuer = text(kIdentityIssuerEnv);
  settings.name_space = task.env.name_space;
  settings.job_name = task.env.job_name;
  settings.job_uid = settings.key_file.empty() ? text(kJobUidEnv) : task.env.run_id;
  settings.self = {.role = task.identity.role,
                   .index = task.identity.index,
                   .attempt = static_cast<std::uint32_t>(task.env.attempt)};
  Result<std::unique_ptr<Identity>> identity = OpenIdentity(settings);
  if (!identity.ok()) return identity.status().WithContext("who this replica is");
  const std::string folder = text(kTlsDirEnv);
  if (folder.empty()) return identity;
  Result<std::shared_ptr<const MutualTls>> tls = MutualTls::Open(
      {.folder = folder, .domain = task.env.job_name + "." + task.env.name_space + ".svc"});
  if (!tls.ok()) return tls.status().WithContext("spec.security.tls");
  if (*identity == nullptr) *identity = std::make_unique<Identity>();
  (*identity)->tls = *std::move(tls);
  (*identity)->credentials =
      std::make_unique<TlsCredentials>(std::move((*identity)->credentials), (*identity)->tls.get());
  return identity;
}

void PrintError(const TaskIdentity& identity, const Status& status) {
  std::cerr << "pstrain-runtime: " << RoleName(identity.role) << ' ' << identity.index << ": "
            << status.ToString() << '\n';
}

/// Says on standard error why no attempt can succeed, and writes it where the agent looks for it.
void StateFailure(const TaskIdentity& identity, std::string_view reason, const Status& status) {
  PrintError(identity, status);
  const std::string file = Environment(kFailureFileEnv).value_or(std::string());
  if (file.empty()) return;
  const StatedFailure failure{std::string(reason), status.message()};
  const Status written = WriteFileAtomically(file, WriteJson(StatedFailureJson(failure)) + "\n");
  if (!written.ok()) {
    LogWarning("runtime", "the reason is in this log alone", {{"error", written}});
  }
}

Result<int> RunRole(const Task& task, StatsWriter& stats, std::stop_token stop, ProcessEnd& end) {
  PSTRAIN_ASSIGN_OR_RETURN(const FailPoints fail_points, ReadFailPoints(task));
  const TaskIdentity& identity = task.identity;
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<Identity> shown, ReadIdentity(task));
  const TokenWatch watch(CredentialsOf(shown.get()),
                         [&expires = *TokenStats(stats).expires](std::int64_t at) {
                           expires.Set(static_cast<double>(at));
                         });
  const JobSettings settings = SettingsOf(task.job);
  const RoleContext context{
      .job = settings,
      .run_id = task.env.run_id,
      .index = identity.index,
      .attempt = static_cast<std::uint32_t>(task.env.attempt),
      .listen_address = identity.listen_address,
      .own_address = identity.own_address,
      .chief_address = identity.chief_address,
      .most_workers = static_cast<std::uint32_t>(
          task.env.most_workers.value_or(static_cast<int>(kMostReplicas))),
      .scratch = task.env.scratch_dir,
      .ps_replicas_file = task.env.ps_replicas_file,
      .data_address = task.env.data_address,
      .grace = std::chrono::seconds(task.env.grace_seconds),
      .identity = shown.get(),
      .stats = stats,
      .fail_points = fail_points,
      .stop = std::move(stop),
      .state_failure = [&identity](
                           std::string_view reason,
                           const Status& status) { StateFailure(identity, reason, status); },
      .end = &end,
  };
  switch (identity.role) {
    case Role::kChief:
      return RunChief(context, ChiefJobOf(task.job));
    case Role::kPs:
      return RunPs(context, PsJobOf(task.job));
    case Role::kWorker:
      return RunWorker(context, WorkerJobOf(task.job));
    case Role::kEvaluator:
      return RunEvaluator(context, task.job.spec().training());
  }
  return InternalError("unknown role");
}

/// The exit code. An error is said on standard error, of which the agent tells the last line.
int ExitCodeOf(const TaskIdentity& identity, const Result<int>& outcome) {
  if (outcome.ok()) return *outcome;
  PrintError(identity, outcome.status());
  return kExitFailure;
}

int Main() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  const Result<Task> task = ReadTask();
  if (!task.ok()) {
    std::cerr << "pstrain-runtime: " << task.status().message() << '\n';
    return kExitUsage;
  }
  if (task->env.run_id.empty()) {
    std::cerr << "pstrain-runtime: " << kRunIdEnv << " is not set\n";
    return kExitUsage;
  }
  Result<std::unique_ptr<StatsWriter>> stats =
      StatsWriter::OpenOrInMemory(task->env.stats_fd.value_or(-1));
  if (!stats.ok()) {
    std::cerr << "pstrain-runtime: " << kStatsFdEnv << ": " << stats.status().message() << '\n';
    return kExitUsage;
  }
  const StopOnSignal stop;
  ProcessEnd end(
      {.grace = std::chrono::seconds(task->env.grace_seconds), .stop = stop.token()},
      [&task](const Result<int>& outcome) { _exit(ExitCodeOf(task->identity, outcome)); });
  return ExitCodeOf(task->identity, RunRole(*task, **stats, stop.token(), end));
}

}  // namespace
}  // namespace pstrain

int main() {
  pstrain::UseSystemResolver();
  pstrain::KeepFreedMemory();
  return pstrain::Main();
}
