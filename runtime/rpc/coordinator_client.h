#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/status.h"
#include "proto/coordinator.pb.h"

namespace pstrain {

/// What a ps, a worker or the evaluator says to the chief. Any thread; each call blocks until the
/// answer or the deadline. UNAVAILABLE and DEADLINE_EXCEEDED mean that the chief is away: call
/// again.
class CoordinatorClient {
 public:
  /// `chief_address`: host:port of the chief, from TF_CONFIG.
  explicit CoordinatorClient(const std::string& chief_address);
  ~CoordinatorClient();

  Result<RegisterPsReply> RegisterPs(const RegisterPsRequest& request);
  Result<HeartbeatPsReply> HeartbeatPs(const HeartbeatPsRequest& request);
  Result<PollWorkerReply> PollWorker(const PollWorkerRequest& request);
  Result<PollEvaluatorReply> PollEvaluator(const PollEvaluatorRequest& request);

 private:
  struct Stub;
  std::unique_ptr<Stub> stub_;
};

/// What the chief says to one ps. Calls block; one at a time.
class ParameterServerClient {
 public:
  explicit ParameterServerClient(const std::string& ps_address);
  ~ParameterServerClient();

  Status Configure(const ConfigureRequest& request);
  Result<AssignShardsReply> AssignShards(const AssignShardsRequest& request);
  Result<WritePiecesReply> WritePieces(const WritePiecesRequest& request);
  Status Release(const ReleaseRequest& request);
  /// The call in flight and all later ones end with CANCELLED. Any thread.
  void Cancel();

 private:
  struct Stub;
  std::unique_ptr<Stub> stub_;
};

}  // namespace pstrain
