#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "library/coordinator/chief_thread.h"
#include "library/coordinator/closure_queue.h"
#include "library/coordinator/program_roles.h"
#include "library/local/scratch_directory.h"
#include "library/worker/closure_runner.h"
#include "runtime/cluster/job_settings.h"
#include "runtime/cluster/role_context.h"
#include "runtime/rpc/in_process/local_network.h"

namespace pstrain {

/// Chief, ps and workers of a program as threads of this process, each with the code that it has as
/// a process of its own; what they say to each other stays in the process. They are lost together,
/// with this process, so nothing is checkpointed but marks and the end. Owner: one thread.
class LocalCluster final : public ProgramRoles {
 public:
  struct Options {
    std::uint32_t ps = 1;
    std::uint32_t workers = 1;
    /// What one worker does at a time.
    std::uint32_t closures = 2;
    std::uint32_t shards = 8;
    /// Where the run is kept; empty: in a temporary directory, which ends with it.
    std::string directory = {};
    /// Makes what runs closures in the worker of that index.
    std::function<std::unique_ptr<ClosureRunner>(std::uint32_t worker)> create_runner;
  };

  /// Starts all. `queue` outlives it: it is told of the chief, and how the run has ended.
  static Result<std::unique_ptr<LocalCluster>> Start(Options options, ClosureQueue& queue);
  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;
  ~LocalCluster() override;

  /// Gives the run up: what is in flight is finished, nothing more is begun.
  void Stop() override { stop_chief_.request_stop(); }
  Result<int> Wait() override;

 private:
  /// A role's thread, and what it is given.
  struct Role {
    std::unique_ptr<StatsWriter> stats = StatsWriter::InMemory();
    std::unique_ptr<RoleContext> context;
    std::thread thread;
  };

  LocalCluster(Options options, ClosureQueue& queue, ScratchDirectory directory);
  void Launch();
  RoleContext ContextOf(std::uint32_t index, const std::string& name, StatsWriter& stats);
  /// Of a ps or worker: `run` is its life. What it fails with fails the run.
  void Launch(std::uint32_t index, const std::string& name,
              std::function<Result<int>(const RoleContext& context)> run);

  const Options options_;
  ClosureQueue& queue_;
  const ScratchDirectory directory_;
  JobSettings settings_;
  LocalNetwork network_;
  std::stop_source stop_chief_;
  /// Requested when the chief has ended.
  std::stop_source stop_others_;
  /// The chief's has no thread of its own.
  std::vector<std::unique_ptr<Role>> roles_;
  std::unique_ptr<ChiefThread> chief_;
};

}  // namespace pstrain
