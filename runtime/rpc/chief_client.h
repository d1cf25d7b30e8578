#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "runtime/cluster/chief_finder.h"

namespace pstrain {

/// A call that did not reach the peer, or not the answer back: worth making again.
bool PeerIsAway(const Status& status);

/// What a ps, a worker or the evaluator says to the chief. Any thread; each call blocks until the
/// answer or the deadline. An error that PeerIsAway means that the chief is away: call again.
///
///   state   | call                                          | the chief is away
///   seeking | asks every address for its term, -> found    | stays
///   found   | goes to the chief with the highest term      | -> seeking
///
/// Addresses are asked for 1 s each. A chief of a lower term than one found before counts as away.
class ChiefClient {
 public:
  /// `chief_address`: host:port of the chief, from TF_CONFIG. `resolve` is ResolveAddress, but for
  /// tests; any thread calls it.
  explicit ChiefClient(std::string chief_address, ChiefFinder::Resolve resolve = nullptr);
  ~ChiefClient();

  Result<RegisterPsReply> RegisterPs(const RegisterPsRequest& request);
  Result<HeartbeatPsReply> HeartbeatPs(const HeartbeatPsRequest& request);
  Result<PollWorkerReply> PollWorker(const PollWorkerRequest& request);
  Result<PollEvaluatorReply> PollEvaluator(const PollEvaluatorRequest& request);

 private:
  class Line;
  std::unique_ptr<Line> line_;
};

/// What the chief says to one ps. Calls block; one at a time.
class ParameterServerClient {
 public:
  explicit ParameterServerClient(const std::string& ps_address);
  ~ParameterServerClient();

  Status Configure(const ConfigureRequest& request);
  Result<AssignShardsReply> AssignShards(const AssignShardsRequest& request);
  Result<WriteCheckpointShardsReply> WriteCheckpointShards(
      const WriteCheckpointShardsRequest& request);
  Status Release(const ReleaseRequest& request);
  /// The call in flight and all later ones end with CANCELLED. Any thread.
  void Cancel();

 private:
  struct Stub;
  std::unique_ptr<Stub> stub_;
};

}  // namespace pstrain
