#pragma once

#include <pstrain/cluster_resolver.h>
#include <pstrain/status.h>

#include <utility>

namespace pstrain {

/// A task ps or worker of a program of several processes, played by this process. Mirrors
/// tf.distribute.Server, whose join() never returns: this one ends with the run.
///
/// The functions and dataset functions of the program run here: they are registered before `main`.
/// The chief compares their names and signatures, and the build, when this task registers, and
/// refuses another program by what differs. One thread, `main`'s.
class Server {
 public:
  explicit Server(ClusterResolver cluster) : cluster_(std::move(cluster)) {}

  /// Plays the role until the run ends. Returns the exit code of the process
  /// (docs/reference/exit-codes.md): 0 the program has finished, 85 this process was told to stop
  /// or the run drains, 86 another process has its place or the chief was lost and the next one has
  /// started the run over, 87 no attempt can succeed. FAILED_PRECONDITION: the task is a chief or
  /// an evaluator, the job has no spec.program, another program than the chief's, or not the first
  /// call in this process. INVALID_ARGUMENT: the cluster or the job cannot be used.
  /// DEADLINE_EXCEEDED: the chief was not heard for spec.program.peerTimeoutSeconds.
  Result<int> Join();

 private:
  ClusterResolver cluster_;
};

}  // namespace pstrain
