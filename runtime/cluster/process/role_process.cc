#include "runtime/cluster/process/role_process.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/os/files.h"
#include "base/text/json.h"
#include "proto/contract/exit_codes.h"
#include "proto/contract/stated_failure.h"
#include "runtime/rpc/grpc/tls.h"
#include "runtime/stats/role_stats.h"

namespace pstrain {
namespace {

std::string TextOf(std::string_view name) {
  return EnvironmentVariable(name).value_or(std::string());
}

std::uint32_t AttemptOf(const Task& task) { return static_cast<std::uint32_t>(task.env.attempt); }

}  // namespace

Result<std::unique_ptr<RoleProcess>> RoleProcess::Open(std::string program, Task task,
                                                       JobSettings settings) {
  Result<std::unique_ptr<StatsWriter>> stats =
      StatsWriter::OpenOrInMemory(task.env.stats_fd.value_or(-1));
  if (!stats.ok())
    return InvalidArgumentError(stats.status().message()).WithContext(std::string(kStatsFdEnv));
  return std::unique_ptr<RoleProcess>(
      new RoleProcess(std::move(program), std::move(task), std::move(settings), *std::move(stats)));
}

RoleProcess::RoleProcess(std::string program, Task task, JobSettings settings,
                         std::unique_ptr<StatsWriter> stats)
    : program_(std::move(program)),
      task_(std::move(task)),
      settings_(std::move(settings)),
      stats_(std::move(stats)),
      end_({.grace = std::chrono::seconds(task_.env.grace_seconds), .stop = stop_.token()},
           [this](const Result<int>& outcome) { _exit(ExitCodeOf(outcome)); }) {
  // A peer that is gone is an error of the call.
  static_cast<void>(signal(SIGPIPE, SIG_IGN));
}

Result<RoleContext> RoleProcess::Context() {
  PSTRAIN_RETURN_IF_ERROR(ReadFailPoints());
  PSTRAIN_RETURN_IF_ERROR(ReadIdentity());
  watch_ = std::make_unique<TokenWatch>(CredentialsOf(identity_.get()),
                                        [&expires = *TokenStats(*stats_).expires](std::int64_t at) {
                                          expires.Set(static_cast<double>(at));
                                        });
  const TaskIdentity& identity = task_.identity;
  return RoleContext{
      .job = settings_,
      .run_id = task_.env.run_id,
      .index = identity.index,
      .attempt = AttemptOf(task_),
      .listen_address = identity.listen_address,
      .own_address = identity.own_address,
      .chief_address = identity.chief_address,
      .most_workers = static_cast<std::uint32_t>(
          task_.env.most_workers.value_or(static_cast<int>(kMostReplicas))),
      .scratch = task_.env.scratch_dir,
      .ps_replicas_file = task_.env.ps_replicas_file,
      .data_address = task_.env.data_address,
      .grace = std::chrono::seconds(task_.env.grace_seconds),
      .identity = identity_.get(),
      .stats = *stats_,
      .fail_points = fail_points_,
      .stop = stop_.token(),
      .state_failure = [this](std::string_view reason,
                              const Status& status) { StateFailure(reason, status); },
      .end = &end_,
  };
}

Status RoleProcess::ReadFailPoints() {
  const std::optional<std::string> text = EnvironmentVariable(kFailPointsEnv);
  if (!task_.test_only || !text) return OkStatus();
  Result<FailPoints> points =
      FailPoints::Parse(*text,
                        {.role = RoleName(task_.identity.role),
                         .index = task_.identity.index,
                         .attempt = AttemptOf(task_)},
                        JoinPath(settings_.checkpoint_directory, task_.env.run_id));
  if (!points.ok()) return points.status().WithContext(std::string(kFailPointsEnv));
  fail_points_ = *std::move(points);
  return OkStatus();
}

Status RoleProcess::ReadIdentity() {
  IdentitySettings settings;
  settings.key_file = TextOf(kIdentityKeyFileEnv);
  settings.tokens = TextOf(kIdentityTokensEnv);
  settings.jwks = TextOf(kIdentityJwksEnv);
  settings.issuer = TextOf(kIdentityIssuerEnv);
  settings.name_space = task_.env.name_space;
  settings.job_name = task_.env.job_name;
  settings.job_uid = settings.key_file.empty() ? TextOf(kJobUidEnv) : task_.env.run_id;
  settings.self = {
      .role = task_.identity.role, .index = task_.identity.index, .attempt = AttemptOf(task_)};
  Result<std::unique_ptr<Identity>> identity = OpenIdentity(settings);
  if (!identity.ok()) return identity.status().WithContext("who this replica is");
  identity_ = *std::move(identity);
  const std::string folder = TextOf(kTlsDirEnv);
  if (folder.empty()) return OkStatus();
  Result<std::shared_ptr<const MutualTls>> tls = MutualTls::Open(
      {.folder = folder, .domain = task_.env.job_name + "." + task_.env.name_space + ".svc"});
  if (!tls.ok()) return tls.status().WithContext("spec.security.tls");
  if (identity_ == nullptr) identity_ = std::make_unique<Identity>();
  identity_->tls = *std::move(tls);
  identity_->credentials =
      std::make_unique<TlsCredentials>(std::move(identity_->credentials), identity_->tls.get());
  return OkStatus();
}

void RoleProcess::PrintError(const Status& status) const {
  std::cerr << program_ << ": " << RoleName(task_.identity.role) << ' ' << task_.identity.index
            << ": " << status.ToString() << '\n';
}

void RoleProcess::StateFailure(std::string_view reason, const Status& status) const {
  PrintError(status);
  const std::string file = TextOf(kFailureFileEnv);
  if (file.empty()) return;
  const StatedFailure failure{std::string(reason), status.message()};
  const Status written = WriteFileAtomically(file, WriteJson(StatedFailureJson(failure)) + "\n");
  if (!written.ok()) {
    LogWarning("runtime", "the reason is in this log alone", {{"error", written}});
  }
}

int RoleProcess::ExitCodeOf(const Result<int>& outcome) const {
  if (outcome.ok()) return *outcome;
  PrintError(outcome.status());
  return kExitFailure;
}

}  // namespace pstrain
