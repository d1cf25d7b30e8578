#pragma once

#include <cstdint>
#include <optional>

namespace pstrain {

/// Which device replica of those that take a step together the calling code runs for. Mirrors
/// tf.distribute.ReplicaContext, of which it has what one of them can ask. A value; any thread.
class ReplicaContext {
 public:
  /// Mirrors ReplicaContext.replica_id_in_sync_group, from 0.
  std::int64_t replica_id_in_sync_group() const { return replica_; }
  /// As ParameterServerStrategy::num_replicas_in_sync. Mirrors
  /// ReplicaContext.num_replicas_in_sync.
  std::int64_t num_replicas_in_sync() const { return replicas_; }

 private:
  friend std::optional<ReplicaContext> GetReplicaContext();
  ReplicaContext(std::int64_t replica, std::int64_t replicas)
      : replica_(replica), replicas_(replicas) {}

  std::int64_t replica_;
  std::int64_t replicas_;
};

/// Nothing in a cross-replica context. A function that runs on a worker is in the context of its
/// device replica by itself, where TensorFlow's enters one by strategy.run; and so is, as in
/// TensorFlow, code that no strategy has to do with, which is device replica 0 of 1. Mirrors
/// tf.distribute.get_replica_context. Of the calling thread; any thread.
std::optional<ReplicaContext> GetReplicaContext();

/// This thread is in the Scope of a strategy. Mirrors tf.distribute.in_cross_replica_context. Of
/// the calling thread; any thread.
bool InCrossReplicaContext();

}  // namespace pstrain
