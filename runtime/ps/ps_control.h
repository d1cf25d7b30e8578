#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/control.grpc.pb.h"
#include "runtime/failpoint/fail_points.h"
#include "runtime/rpc/transport.h"
#include "runtime/shard/shard_engine.h"

namespace pstrain {

/// The control side of a ps: does what the chief says. Calls of a chief with a lower term than the
/// highest seen are refused with FAILED_PRECONDITION. Outlives the server that it is registered
/// with.
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
  /// Wakes up on a release. Waits at most `timeout`.
  void WaitForRelease(std::chrono::milliseconds timeout, const std::stop_token& stop) const;

 private:
  Status Admit(std::uint64_t chief_term);
  /// FAILED_PRECONDITION: a newer chief has come since.
  Status CheckCurrent(std::uint64_t chief_term) const;
  Status FetchMoved(const AssignShardsRequest& request, std::vector<ShardOrder>* orders) const;
  Status DoAssign(const AssignShardsRequest& request, AssignShardsReply* reply);
  Status DoWriteCheckpointShards(const WriteCheckpointShardsRequest& request,
                                 WriteCheckpointShardsReply* reply);
  std::string CheckpointFolder(const std::string& checkpoint) const;

  ShardEngine& engine_;
  Transport& transports_;
  const FailPoints& fail_points_;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::uint64_t chief_term_ = 0;
  std::string run_directory_;
  std::optional<bool> released_;
};

/// All shards that the engine holds, as RegisterPs says them.
void DescribeHeld(ShardEngine& engine, RegisterPsRequest* request);

}  // namespace pstrain
