#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/chief/chief_setup.h"
#include "runtime/chief/disk/disk.h"
#include "runtime/chief/protocol/commit_protocol.h"
#include "runtime/cluster/role_context.h"
#include "runtime/stats/refusals.h"
#include "runtime/stats/role_stats.h"

namespace pstrain {

/// Where the run is: what the answer to a poll depends on beside the peer. A value; Chief makes one
/// for each poll, and any thread may read it.
struct RunPhase {
  /// Everybody is told to end: with exit code 0 (finished), else 85.
  bool releasing = false;
  bool finished = false;
  /// Nothing is granted for now.
  bool grants_wait = false;
  /// The newest checkpoint in place: what is to be evaluated.
  std::optional<CheckpointId> newest = std::nullopt;
};

/// What every part of the chief is given (PsPeers, WorkerPeers, EvaluatorPeer, Checkpointing). All
/// of it outlives the parts. The parts have no lock of their own: the chief's lock guards them and
/// `protocol`, and one thread at a time calls any of them.
struct ChiefDependencies {
  const RoleContext& context;
  const ChiefSetup& setup;
  /// As it is now: Declarations adds variables.
  const RunDescription& run;
  const Clock& clock;
  ChiefStats& stats;
  CommitProtocol& protocol;
  /// All work on the run's directory after the start.
  Disk& disk;
  /// Counts what peers are refused.
  Refusals& refusals;

  std::uint64_t chief_term() const { return setup.directory.chief_term(); }
  /// How much time has passed since `then`, a time of `clock`.
  std::chrono::nanoseconds Since(ProtocolTime then) const { return clock.Now() - then; }
  /// `since`, from which a silence or a wait is counted, without the pause of this process that
  /// ends now: nobody could be heard meanwhile.
  ProtocolTime Forgiven(ProtocolTime since, std::chrono::nanoseconds gap) const {
    return std::min(since + gap, clock.Now());
  }
  /// The job evaluates its checkpoints.
  bool has_evaluator() const {
    return setup.job.evaluation_deadline.has_value() &&
           context.job.spec.replica_specs().evaluator().replicas() > 0;
  }
};

}  // namespace pstrain
