#pragma once

#include <pstrain/cluster_resolver.h>
#include <pstrain/partitioners.h>
#include <pstrain/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace pstrain {

namespace program {
class Run;
}  // namespace program

/// How many of what a strategy without a cluster starts, as threads of this process: in a cluster
/// these are the job's, spec.replicaSpecs, spec.strategy.shards, spec.program.closuresPerWorker.
/// And how its variables are divided, the only one of these that TensorFlow's takes. A value.
struct StrategyOptions {
  /// Parameter servers, from 1 to 64.
  int ps = 1;
  /// Workers, from 1 to 64.
  int workers = 1;
  /// Functions that one worker runs at a time, from 1 to 64: while one waits for values, another
  /// computes. With more than one a function may read values that lack what the worker's others
  /// change.
  int closures_per_worker = 2;
  /// Units of ownership that variables lie in, from 1 to 4096.
  int shards = 8;
  /// Asked for each variable that is declared in the strategy's scope, but for scalars and
  /// embedding tables: into how many partitions it is divided. Partitions lie in shards of their
  /// own, as far as there are so many. By default each variable is whole. Mirrors
  /// variable_partitioner of tf.distribute.ParameterServerStrategy.
  Partitioner variable_partitioner = {};
  /// Where marks are kept (CheckpointManager), for the next process that is given the same
  /// directory: one at a time, and none once the run has finished. Empty: in a temporary directory,
  /// which ends with this process. In a cluster it is the job's, spec.program.checkpoint.directory.
  std::string checkpoint_directory = {};
};

/// Variables that a thread declares while this lives belong to its strategy. Mirrors what
/// `with strategy.scope():` enters. Made and destroyed by one thread, the last one first.
class StrategyScope {
 public:
  StrategyScope(const StrategyScope&) = delete;
  StrategyScope& operator=(const StrategyScope&) = delete;
  ~StrategyScope();

 private:
  friend class ParameterServerStrategy;
  explicit StrategyScope(std::shared_ptr<program::Run> run);
  std::shared_ptr<program::Run> run_;
};

/// Variables lie on parameter servers, functions run on workers, and `main` coordinates. Mirrors
/// tf.distribute.ParameterServerStrategy. Without a cluster, chief, ps and workers are threads of
/// this process; nothing listens on a port. With one, this process is its chief, and the others
/// play their roles by a Server: kills of ps and workers cost the program nothing, and after that
/// of the chief it goes on from its last mark (CheckpointManager), and without one from its initial
/// state. A value: copies are of the same run, which ends with ClusterCoordinator::Finish, or,
/// given up, with the last of them. Any thread.
class ParameterServerStrategy {
 public:
  /// Without a cluster it starts the threads; `options` says how many. In one it starts the chief
  /// beside `main`, where the cluster says; the job, of which pstrain-agent tells, says the rest.
  /// Waits until the chief serves. INVALID_ARGUMENT: a number out of its bounds; a partitioner that
  /// was made with a bad argument; a cluster or a job that cannot be used. ALREADY_EXISTS: two
  /// functions, or two dataset functions, are registered under one name; both places are named.
  /// FAILED_PRECONDITION: this process is not the chief; the job has no spec.program, whose
  /// checkpoint directory all processes need; the process has a strategy already; the run is
  /// finished. Others: the directory of the run, or the temporary one, for which TMPDIR counts,
  /// cannot be written to.
  static Result<ParameterServerStrategy> Create(const ClusterResolver& cluster,
                                                const StrategyOptions& options = {});
  /// The same with the cluster that TF_CONFIG names, if it is set.
  static Result<ParameterServerStrategy> Create(const StrategyOptions& options = {});

  /// Mirrors tf.distribute.Strategy.scope.
  StrategyScope Scope() const { return StrategyScope(run_); }
  /// Calls of functions that have succeeded. Mirrors optimizer.iterations, but for functions in
  /// place of gradients.
  std::int64_t Iterations() const;
  /// What it was made with; without a cluster, if that was none. Mirrors
  /// tf.distribute.Strategy.cluster_resolver.
  const ClusterResolver& cluster_resolver() const;
  /// Device replicas that take a step together, which are those of one worker, however many workers
  /// there are: one so far. Mirrors tf.distribute.Strategy.num_replicas_in_sync.
  std::int64_t num_replicas_in_sync() const;

 private:
  friend class ClusterCoordinator;
  friend std::optional<ParameterServerStrategy> GetStrategy();
  explicit ParameterServerStrategy(std::shared_ptr<program::Run> run) : run_(std::move(run)) {}

  std::shared_ptr<program::Run> run_;
};

/// The strategy whose Scope this thread has entered last and not left. Nothing outside of a scope,
/// where TensorFlow has its default strategy; and nothing in a function, which runs in a worker,
/// while the strategy is of `main`: what a function may ask is GetReplicaContext. Mirrors
/// tf.distribute.get_strategy. Of the calling thread; any thread.
std::optional<ParameterServerStrategy> GetStrategy();
/// There is one. Mirrors tf.distribute.has_strategy.
bool HasStrategy();

}  // namespace pstrain
