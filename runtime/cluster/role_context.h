#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/status.h"
#include "proto/contract/exit_codes.h"
#include "runtime/cluster/fail_points.h"
#include "runtime/cluster/job_settings.h"
#include "runtime/cluster/limits.h"
#include "runtime/cluster/process_end.h"
#include "runtime/stats/stats_writer.h"

namespace pstrain {

struct Identity;
struct LocalNetwork;

/// What every role is given by main: who it is and where the others are. Everything in it outlives
/// the role and stays as it is; any thread of the role may read it.
struct RoleContext {
  const JobSettings& job;
  std::string run_id;
  /// Task index of this process.
  std::uint32_t index = 0;
  /// Of this replica, from 0.
  std::uint32_t attempt = 0;
  /// Where this process listens, and the address that it tells others.
  std::string listen_address{};
  std::string own_address{};
  std::string chief_address{};
  /// Indices of workers are below this while this process lives.
  std::uint32_t most_workers = kMostReplicas;
  /// Scratch that need not survive the process.
  std::filesystem::path scratch{};
  /// Where the number of ps that the job wants can be read while it runs; empty: it cannot change.
  std::string ps_replicas_file{};
  /// Of a ps: where its data plane is served; empty: at `listen_address`, beside its control plane.
  std::string data_address{};
  /// From SIGTERM to SIGKILL.
  std::chrono::seconds grace{30};
  /// Null: nobody is asked who they are (runtime/rpc/identity/identity.h).
  const Identity* identity = nullptr;
  /// The way to the other roles where they are threads of this process; null: they are processes of
  /// their own, reached over gRPC (runtime/rpc/in_process/local_network.h).
  LocalNetwork* network = nullptr;
  StatsWriter& stats;
  /// Where a test wants this process to die.
  const FailPoints& fail_points;
  /// Requested when the process is told to stop (SIGTERM, SIGINT).
  std::stop_token stop{};
  /// Told why no attempt can succeed, before the role returns kExitPermanent
  /// (runtime/cluster/permanent_failure.h). May be empty.
  std::function<void(std::string_view reason, const Status& status)> state_failure{};
  /// Null: nobody ends the process when it does not end by itself.
  ProcessEnd* end = nullptr;
  /// The role runs beside a program's `main`, which takes its time after the run has finished.
  bool main_goes_on = false;

  /// As ProcessEnd::Decided. To be called as soon as it is known what the role returns: what is
  /// destroyed after that may wait for a disk that hangs.
  void Decided(const Result<int>& outcome) const {
    const bool finished = outcome.ok() && *outcome == kExitSuccess;
    if (end != nullptr && !(finished && main_goes_on)) end->Decided(outcome);
  }

  std::filesystem::path run_directory() const {
    return std::filesystem::path(job.checkpoint_directory) / run_id;
  }
  /// As JobSettings::peer_timeout.
  std::chrono::seconds peer_timeout() const { return job.peer_timeout; }
};

}  // namespace pstrain
