#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "local/replicas/pod_template.h"
#include "local/replicas/ports.h"
#include "local/replicas/replica_process.h"
#include "local/replicas/volumes.h"
#include "local/replicas/workspace.h"
#include "operator/plan/snapshot.h"
#include "proto/contract/tf_config.h"

namespace pstrain::local {

/// What of the command line a Launcher needs.
struct LauncherOptions {
  std::string program_dir;  // where pstrain-agent and pstrain-runtime lie
  std::string run_id;
  std::map<std::string, std::string> volumes;  // NAME -> DIR of --volume
  bool allow_test_only = false;                // the replicas admit what the manifest reader did
};

/// Turns a replica into a process: addresses, environment, command. Immutable after Create; any
/// thread may ask it.
class Launcher {
 public:
  /// Reads the templates, maps the volumes (making the directories), claims the ports and writes
  /// job.json. `job` is the job as the person wrote it.
  static Result<Launcher> Create(const PSTrainingJob& job, const Workspace& workspace,
                                 LauncherOptions options);

  /// The job as the replicas see it.
  const PSTrainingJob& job() const { return job_; }
  /// Where the volumes lie here.
  const Volumes& volumes() const { return volumes_; }
  /// What of the templates has no meaning here, one line each.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Makes the attempt's scratch folder. REQUIRES: the job has the replica.
  Result<ProcessSpec> Prepare(const plan::ReplicaId& id, std::int32_t attempt) const;
  /// From SIGTERM to SIGKILL: the template's terminationGracePeriodSeconds, else Kubernetes' 30 s.
  std::chrono::seconds Grace(plan::Role role) const;
  std::uint16_t MetricsPort(const plan::ReplicaId& id) const { return metrics_ports_.at(id); }
  /// Training address of the replica; empty for an evaluator, which serves nobody.
  std::string Address(const plan::ReplicaId& id) const;

 private:
  Launcher(const Workspace& workspace, LauncherOptions options)
      : workspace_(&workspace), options_(std::move(options)) {}

  Status ReadTemplates(const PSTrainingJob& job);
  Status MapVolumes(const PSTrainingJob& job);
  /// The folder in the place of the Secret of spec.security.tls.
  Status FindTlsFolder(const PSTrainingJob& job);
  Status AssignPorts();
  std::vector<std::string> Command(const plan::ReplicaId& id) const;

  const Workspace* workspace_;
  LauncherOptions options_;
  PSTrainingJob job_;
  std::map<plan::Role, PodTemplate> templates_;
  Volumes volumes_;
  /// Empty: connections are not encrypted.
  std::string tls_folder_;
  ClaimedPorts claimed_ports_;
  ClusterAddresses cluster_;
  std::map<plan::ReplicaId, std::uint16_t> metrics_ports_;
  std::vector<std::string> notes_;
};

}  // namespace pstrain::local
