#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "proto/contract/control.grpc.pb.h"
#include "runtime/cluster/fail_points.h"
#include "runtime/rpc/transport.h"
#include "runtime/shard/shard_engine.h"

namespace pstrain {

/// The control side of a ps: does what the chief says. The highest chief term that any call has
/// named counts: calls of a lower one are refused with FAILED_PRECONDITION, so that a chief that
/// was cut off and still runs cannot assign or drop shards (rule 8 of the commit protocol). Called
/// from gRPC's threads, several at a time; calls block until the engine has answered. Outlives the
/// server that it is registered with.
class PsControl final : public ParameterServer::Service {
 public:
  /// All outlive it. `transports`: the way to other ps, from which shards move here.
  PsControl(ShardEngine& engine, Transport& transports,
            const FailPoints& fail_points = FailPoints::None())
      : engine_(engine), transports_(transports), fail_points_(fail_points) {}

  grpc::Status Configure(grpc::ServerContext*, const ConfigureRequest* request,
                         ConfigureReply*) override;
  grpc::Status AssignShards(grpc::ServerContext*, const AssignShardsRequest* request,
                            AssignShardsReply* reply) override;
  grpc::Status WriteCheckpointShards(grpc::ServerContext*,
                                     const WriteCheckpointShardsRequest* request,
                                     WriteCheckpointShardsReply* reply) override;
  grpc::Status Release(grpc::ServerContext*, const ReleaseRequest* request, ReleaseReply*) override;

  /// Set once the chief has released this ps: true when the job is finished.
  std::optional<bool> released() const;
  /// Waits for a release, at most `timeout`; a stop ends the wait too, and it may end early.
  void WaitForRelease(std::chrono::milliseconds timeout, const std::stop_token& stop) const;

 private:
  Status Admit(std::uint64_t chief_term);
  /// FAILED_PRECONDITION: a newer chief has come since.
  Status CheckCurrent(std::uint64_t chief_term) const;
  /// The states of shards that are restored, and of those that move here from other ps.
  Status ReadRestored(const AssignShardsRequest& request,
                      const std::vector<ShardAssignment>& assignments,
                      std::map<ShardId, ShardState>* states) const;
  Status FetchMoved(const std::vector<ShardAssignment>& assignments,
                    std::map<ShardId, ShardState>* states) const;
  Status DoAssign(const AssignShardsRequest& request, AssignShardsReply* reply);
  Status DoWriteCheckpointShards(const WriteCheckpointShardsRequest& request,
                                 WriteCheckpointShardsReply* reply);
  std::string CheckpointFolder(const std::string& checkpoint) const;

  ShardEngine& engine_;
  Transport& transports_;
  const FailPoints& fail_points_;
  mutable Mutex mutex_;
  mutable CondVar changed_;
  /// The highest that any call has named.
  std::uint64_t chief_term_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  std::string run_directory_ PSTRAIN_GUARDED_BY(mutex_);
  std::optional<bool> released_ PSTRAIN_GUARDED_BY(mutex_);
};

/// All shards that the engine has, as RegisterPs says them.
void DescribeCopies(ShardEngine& engine, RegisterPsRequest* request);

}  // namespace pstrain
