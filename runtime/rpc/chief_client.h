#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "runtime/cluster/chief_finder.h"
#include "runtime/rpc/identity/caller.h"

namespace pstrain {

/// Of control calls, which are small and answered immediately.
inline constexpr std::chrono::seconds kControlDeadline{5};
/// Of AwaitWork, which the chief answers after 10 s at the latest.
inline constexpr std::chrono::seconds kAwaitDeadline{15};
/// Of calls that move data: restoring shards, writing checkpoint shards.
inline constexpr std::chrono::minutes kTransferDeadline{30};

/// A call that did not reach the peer, or whose answer did not come back: worth repeating.
inline bool PeerIsAway(const Status& status) {
  return status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kUnknown ||
         status.code() == StatusCode::kDeadlineExceeded || status.code() == StatusCode::kCancelled;
}

/// A call that its peer did not let in: who called could not show that it may.
inline bool CallIsRefused(const Status& status) {
  return status.code() == StatusCode::kUnauthenticated ||
         status.code() == StatusCode::kPermissionDenied;
}

/// What a ps, a worker or the evaluator says to the chief, whatever carries it. Any thread; each
/// call blocks until the answer or the deadline. An error that PeerIsAway means that the chief is
/// away: call again.
class ChiefCalls {
 public:
  virtual ~ChiefCalls() = default;

  virtual Result<RegisterPsReply> RegisterPs(const RegisterPsRequest& request) = 0;
  virtual Result<HeartbeatPsReply> HeartbeatPs(const HeartbeatPsRequest& request) = 0;
  virtual Result<PollWorkerReply> PollWorker(const PollWorkerRequest& request) = 0;
  virtual Result<PollEvaluatorReply> PollEvaluator(const PollEvaluatorRequest& request) = 0;

  /// Blocks until the chief has said that a poll may bring something.
  virtual Status AwaitWork(const AwaitWorkRequest& request) = 0;
  /// The call of AwaitWork in flight and all later ones end with CANCELLED.
  virtual void StopWaiting() = 0;
};

/// ChiefCalls over gRPC. Any thread.
///
///   state   | call                                         | the chief is away
///   seeking | asks every address for its term, -> found    | stays
///   found   | goes to the chief with the highest term      | -> seeking
///
/// Each address has 1 s to answer, 2 and 4 s after rounds in which none did. A chief whose term is
/// lower than that of one found before counts as away.
class ChiefClient final : public ChiefCalls {
 public:
  /// `chief_address`: host:port of the chief, from TF_CONFIG. `resolve`: null
  /// for ResolveAddress, tests give their own; any thread calls it. `credentials`: null for none;
  /// outlive it.
  explicit ChiefClient(std::string chief_address, ChiefFinder::Resolve resolve = nullptr,
                       const Credentials* credentials = nullptr);
  ~ChiefClient() override;

  Result<RegisterPsReply> RegisterPs(const RegisterPsRequest& request) override;
  Result<HeartbeatPsReply> HeartbeatPs(const HeartbeatPsRequest& request) override;
  Result<PollWorkerReply> PollWorker(const PollWorkerRequest& request) override;
  Result<PollEvaluatorReply> PollEvaluator(const PollEvaluatorRequest& request) override;
  Status AwaitWork(const AwaitWorkRequest& request) override;
  void StopWaiting() override;

 private:
  class Calls;
  std::unique_ptr<Calls> chief_;
};

/// What the chief says to one ps, whatever carries it. Calls block; one at a time.
class PsCalls {
 public:
  virtual ~PsCalls() = default;

  virtual Status Configure(const ConfigureRequest& request) = 0;
  virtual Result<AssignShardsReply> AssignShards(const AssignShardsRequest& request) = 0;
  virtual Result<WriteCheckpointShardsReply> WriteCheckpointShards(
      const WriteCheckpointShardsRequest& request) = 0;
  virtual Status Release(const ReleaseRequest& request) = 0;
  /// The call in flight and all later ones end with CANCELLED, as soon as what carries them can end
  /// one. Any thread.
  virtual void Cancel() = 0;
};

/// PsCalls over gRPC.
class ParameterServerClient final : public PsCalls {
 public:
  /// `credentials`: null for none; outlive it.
  explicit ParameterServerClient(const std::string& ps_address,
                                 const Credentials* credentials = nullptr);
  ~ParameterServerClient() override;

  Status Configure(const ConfigureRequest& request) override;
  Result<AssignShardsReply> AssignShards(const AssignShardsRequest& request) override;
  Result<WriteCheckpointShardsReply> WriteCheckpointShards(
      const WriteCheckpointShardsRequest& request) override;
  Status Release(const ReleaseRequest& request) override;
  void Cancel() override;

 private:
  struct Stub;
  std::unique_ptr<Stub> stub_;
};

}  // namespace pstrain
