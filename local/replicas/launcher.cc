#include "local/replicas/launcher.h"

#include <filesystem>
#include <utility>

#include "base/os/files.h"
#include "proto/contract/roles.h"
#include "proto/contract/task_env.h"
#include "proto/job/job_manifest.h"

namespace pstrain::local {
namespace {

constexpr std::string_view kHost = "127.0.0.1:";
/// Of a pod without terminationGracePeriodSeconds. Source: Kubernetes API, PodSpec v1.
constexpr std::chrono::seconds kDefaultGrace{30};

std::vector<plan::ReplicaId> AllReplicas(const JobSpec& spec) {
  std::vector<plan::ReplicaId> replicas;
  for (const plan::Role role : plan::kRoles) {
    for (std::int32_t i = 0; i < plan::DesiredReplicas(spec, role); ++i)
      replicas.push_back({role, i});
  }
  return replicas;
}

}  // namespace

Result<Launcher> Launcher::Create(const PSTrainingJob& job, const Workspace& workspace,
                                  LauncherOptions options) {
  Launcher launcher(workspace, std::move(options));
  PSTRAIN_RETURN_IF_ERROR(launcher.ReadTemplates(job));
  PSTRAIN_RETURN_IF_ERROR(launcher.MapVolumes(job));
  launcher.job_ = MapJobPaths(launcher.volumes_.mounts(), job);
  PSTRAIN_RETURN_IF_ERROR(launcher.AssignPorts());
  PSTRAIN_RETURN_IF_ERROR(workspace.WriteIdentityKey());
  PSTRAIN_RETURN_IF_ERROR(
      WriteFileAtomically(workspace.File("job.json"), WriteJobManifest(launcher.job_)));
  return launcher;
}

Status Launcher::ReadTemplates(const PSTrainingJob& job) {
  PSTRAIN_ASSIGN_OR_RETURN(templates_, ReadPodTemplates(job));
  for (const auto& [role, pod] : templates_) {
    const std::string path = "spec.replicaSpecs." + std::string(plan::RoleName(role));
    for (const std::string& ignored : pod.ignored) {
      notes_.push_back(path + ".template: " + ignored + " is ignored on this machine");
    }
    if (!job.spec().has_training() && pod.command.empty()) {
      return InvalidArgumentError(path +
                                  ": without spec.training the template's first container "
                                  "needs a command that can run on this machine");
    }
  }
  return OkStatus();
}

Status Launcher::FindTlsFolder(const PSTrainingJob& job) {
  if (!job.spec().security().has_tls()) return OkStatus();
  const std::string name(kTlsVolume);
  const auto given = options_.volumes.find(name);
  if (given == options_.volumes.end()) {
    return InvalidArgumentError(
        "spec.security.tls: there are no Secrets on this machine; give the folder of tls.crt, "
        "tls.key and ca.crt by --volume " +
        name + "=DIR");
  }
  tls_folder_ = std::filesystem::absolute(given->second).lexically_normal().string();
  return OkStatus();
}

Status Launcher::MapVolumes(const PSTrainingJob& job) {
  PSTRAIN_RETURN_IF_ERROR(FindTlsFolder(job));
  PSTRAIN_ASSIGN_OR_RETURN(
      volumes_, Volumes::Create(templates_, options_.volumes, workspace_->File("volumes"),
                                tls_folder_.empty() ? std::string_view() : kTlsVolume));
  for (const std::string& directory : volumes_.Directories()) {
    PSTRAIN_RETURN_IF_ERROR(CreateDirectories(directory));
  }
  return OkStatus();
}

Status Launcher::AssignPorts() {
  const std::vector<plan::ReplicaId> replicas = AllReplicas(job_.spec());
  const std::uint64_t seed = std::hash<std::string>{}(options_.run_id + workspace_->path());
  PSTRAIN_ASSIGN_OR_RETURN(claimed_ports_, ClaimedPorts::Claim(replicas.size() * 2, seed));
  const std::vector<std::uint16_t>& ports = claimed_ports_.ports();
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    metrics_ports_[replicas[i]] = ports[2 * i];
    if (!TraitsOf(replicas[i].role).in_cluster_spec) continue;
    cluster_[std::string(plan::RoleName(replicas[i].role))][replicas[i].index] =
        std::string(kHost) + std::to_string(ports[2 * i + 1]);
  }
  return OkStatus();
}

std::string Launcher::Address(const plan::ReplicaId& id) const {
  const auto role = cluster_.find(plan::RoleName(id.role));
  if (role == cluster_.end()) return {};
  const auto address = role->second.find(id.index);
  return address == role->second.end() ? std::string() : address->second;
}

std::vector<std::string> Launcher::Command(const plan::ReplicaId& id) const {
  std::vector<std::string> command = {JoinPath(options_.program_dir, "pstrain-agent"), "--"};
  const PodTemplate& pod = templates_.at(id.role);
  if (pod.command.empty()) {
    command.push_back(JoinPath(options_.program_dir, "pstrain-runtime"));
    return command;
  }
  for (const std::string& argument : pod.command)
    command.push_back(MapPath(volumes_.mounts(), argument));
  return command;
}

std::chrono::seconds Launcher::Grace(plan::Role role) const {
  const auto found = templates_.find(role);
  return found == templates_.end() ? kDefaultGrace : found->second.grace.value_or(kDefaultGrace);
}

Result<ProcessSpec> Launcher::Prepare(const plan::ReplicaId& id, std::int32_t attempt) const {
  const std::string role(plan::RoleName(id.role));
  TaskEnv task;
  task.job_name = job_.metadata().name();
  if (!job_.metadata().namespace_().empty()) task.name_space = job_.metadata().namespace_();
  task.replica_type = role;
  task.replica_index = id.index;
  task.attempt = attempt;
  task.run_id = options_.run_id;
  task.metrics_address = std::string(kHost) + std::to_string(MetricsPort(id));
  task.job_file = workspace_->File("job.json");
  task.grace_seconds = static_cast<int>(Grace(id.role).count());
  task.most_workers = job_.spec().replica_specs().worker().replicas();
  task.scratch_dir = workspace_->ScratchDir(id, attempt);
  PSTRAIN_RETURN_IF_ERROR(CreateDirectories(task.scratch_dir));
  PSTRAIN_ASSIGN_OR_RETURN(const std::string tf_config, TfConfigOf(job_, cluster_, role, id.index));
  Environment settings;
  for (const auto& [name, value] : templates_.at(id.role).environment) {
    settings.emplace_back(name, MapPath(volumes_.mounts(), value));
  }
  for (auto& setting : ToEnvironment(task)) settings.push_back(std::move(setting));
  settings.emplace_back(kTfConfigEnv, tf_config);
  settings.emplace_back(kIdentityKeyFileEnv, workspace_->IdentityKeyFile());
  if (!tls_folder_.empty()) settings.emplace_back(kTlsDirEnv, tls_folder_);
  settings.emplace_back(kFinalStatsFileEnv, workspace_->StatsFile(id, attempt));
  if (options_.allow_test_only) settings.emplace_back(kAllowTestOnlyEnv, "1");
  ProcessSpec spec;
  spec.arguments = Command(id);
  spec.environment = std::move(settings);
  spec.log_file = workspace_->LogFile(id, attempt);
  return spec;
}

}  // namespace pstrain::local
