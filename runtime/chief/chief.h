#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/chief/grant_barriers.h"
#include "runtime/chief/protocol/commit_protocol.h"
#include "runtime/chief/ps_link.h"
#include "runtime/chief/run_directory.h"
#include "runtime/cluster/role_context.h"
#include "runtime/stats/role_stats.h"

namespace pstrain {

/// What the chief prepares before it serves.
struct ChiefSetup {
  RunDirectory directory;
  std::shared_ptr<const InputIndex> index;
  RunDescription run;
  /// Newest good checkpoint, if the run has one.
  std::optional<GoodCheckpoint> checkpoint;
  /// Names of all finished checkpoints that are not newer than `checkpoint`, newest first.
  std::vector<std::string> checkpoints;
  GrantBarriers barriers;
};

/// Everything up to a running chief: run directory, input index, variables and their placement, the
/// checkpoint to go on from. The error names the field of the job or the file.
Result<ChiefSetup> PrepareChief(const RoleContext& context);

/// The chief process around the pure CommitProtocol: answers registrations and polls, carries out
/// the protocol's actions on the ps, takes checkpoints, has them evaluated, ends the run. State is
/// guarded by one mutex; calls to ps happen on PsLink threads, without it. RPC methods: any thread.
class Chief {
 public:
  Chief(const RoleContext& context, ChiefSetup setup);
  ~Chief();

  /// Runs the job to its end: 0 finished, 85 drained or replaced, else the error (exit code 1).
  Result<int> Run();

  std::uint64_t epoch() const { return setup_.directory.chief_term(); }
  Result<RegisterPsReply> RegisterPs(const RegisterPsRequest& request);
  Result<HeartbeatPsReply> HeartbeatPs(const HeartbeatPsRequest& request);
  Result<PollWorkerReply> PollWorker(const PollWorkerRequest& request);
  Result<PollEvaluatorReply> PollEvaluator(const PollEvaluatorRequest& request);

 private:
  using Time = std::chrono::steady_clock::time_point;
  enum class Phase : std::uint8_t { kRunning, kReleasing };
  struct PsPeer {
    std::unique_ptr<PsLink> link;
    Time seen;
    bool released = false;
  };
  struct WorkerPeer {
    std::uint64_t process = 0;
    std::set<WorkId> granted;
    Time seen;
    bool told_end = false;
  };
  struct CheckpointInProgress {
    CheckpointId id;
    CheckpointPlan plan;
    std::vector<CheckpointShard> checkpoint_shards;
    std::size_t pending = 0;
    std::uint64_t work_ids = 0;
    Status status;
    // Of the manifest in place.
    std::string base;
    std::uint64_t bytes = 0;
  };
  /// What the shards of the newest checkpoint have counted themselves.
  struct AppliedCounts {
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
    /// Bad records that were left out, in every shard at least.
    std::int64_t skipped = 0;
  };
  struct Evaluation {
    std::optional<CheckpointId> checkpoint;
    std::map<std::string, double> metrics;
  };

  // chief_peers.cc; all REQUIRE the mutex
  void ConfigurePs(PsPeer& peer, std::uint32_t index);
  void Dispatch();
  void Assign(const AssignShardsAction& action);
  void Assigned(const AssignShardsAction& action, const Result<AssignShardsReply>& reply);
  void ReleasePs(std::uint32_t index, bool finished);
  void ExpirePeers(Time now);
  void FillMembership(Membership* wire) const;
  std::uint64_t MembershipNumber() const;
  void AddGrants(const PollWorkerRequest& request, WorkerPeer& worker, PollWorkerReply* reply);
  void AbsorbReports(const PollWorkerRequest& request, WorkerPeer& worker);
  bool HasEvaluator() const;

  // chief_checkpoint.cc
  bool CheckpointDue(Time now) const;
  void StartCheckpoint(Time now);
  void CheckpointShardsWritten(const CheckpointId& id,
                               const Result<WriteCheckpointShardsReply>& reply);
  void FinishCheckpoint(Time now);
  Status PlaceManifest();

  // chief.cc
  void Step(Time now);
  void Fail(Status status);
  bool RunFinished(Time now) const;
  bool DrainFinished(Time now) const;
  void BeginRelease(bool finished, Time now);
  bool ReleaseDone(Time now) const;
  void NoteCounts(const CheckpointManifest& manifest);
  std::string ResultJson() const;
  void PublishStats();
  void CheckPatience(Time now);
  void CheckRestored(Time now);
  bool RestoredLossAwaited() const { return stopped_loss_.has_value() || announcing_; }

  const RoleContext& context_;
  ChiefSetup setup_;
  ChiefStats stats_;
  RuntimeStats common_stats_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  CommitProtocol protocol_;
  std::map<std::uint32_t, PsPeer> ps_;
  std::map<std::uint32_t, WorkerPeer> workers_;
  /// Lines to ps that were replaced; ended by Run, outside of the mutex.
  std::vector<std::unique_ptr<PsLink>> retired_;
  Phase phase_ = Phase::kRunning;
  std::optional<Status> failure_;
  bool finished_ = false;
  /// Every shard has been active once and has said what it has: what was committed is known.
  bool counts_known_ = false;

  std::optional<CheckpointInProgress> checkpoint_;
  std::uint64_t next_checkpoint_ = 1;
  std::optional<CheckpointId> newest_checkpoint_;
  std::optional<CheckpointManifest> final_checkpoint_;
  std::uint64_t work_ids_at_checkpoint_ = 0;
  std::uint64_t checkpoints_placed_ = 0;
  int checkpoint_failures_ = 0;
  Status checkpoint_error_;
  Time last_checkpoint_;
  Time final_since_;

  Evaluation evaluation_;
  std::optional<CheckpointId> pinned_;
  Time evaluator_seen_;
  bool evaluator_told_end_ = false;
  /// A stopped run goes on: grants wait until its restored state has been evaluated.
  std::optional<double> stopped_loss_;
  std::optional<double> restored_loss_;
  /// Nothing is granted until somebody has shown that loss, or is late.
  bool announcing_ = false;
  Time announce_since_;

  Time drain_since_;
  Time release_since_;
  Time ready_since_;
  Time last_term_check_;
  double loss_ = 0;
  bool loss_known_ = false;
  AppliedCounts applied_;
};

}  // namespace pstrain
