#pragma once

#include <pstrain/cluster_resolver.h>
#include <pstrain/saved_variables.h>
#include <pstrain/status.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace pstrain {

/// Mirrors the arguments of tf.keras.utils.SidecarEvaluator. A value.
struct SidecarEvaluatorOptions {
  /// After a checkpoint whose mark is this or higher nothing is evaluated any more; the process
  /// stays until the run ends. Mirrors max_evaluations, by the number in the checkpoint's name too.
  std::optional<std::int64_t> max_evaluations = {};
};

/// The evaluator of a program of several processes, played by this process: it evaluates the newest
/// checkpoint while the others train, again and again, by a function of the program. Mirrors
/// tf.keras.utils.SidecarEvaluator. The job has it by spec.replicaSpecs.evaluator: {replicas: 1}.
///
/// It reads no ps: training goes on meanwhile, and its loss costs nothing. An attempt that takes
/// the place of a lost one begins with the newest checkpoint. What it reads is not deleted before
/// it is done, and is never of what was given up with a lost chief, unless the chief is lost while
/// it reads: then nobody hears of the outcome. After the loss of a chief a mark may be evaluated a
/// second time. The last checkpoint of the run is always evaluated, unless max_evaluations is
/// reached; for that the end of the run waits, but no longer than 10 minutes.
///
///   Result<EvaluatedMetrics> Evaluate(const SavedVariables& saved) {
///     PSTRAIN_ASSIGN_OR_RETURN(const Tensor weights, saved.Read(kWeights));
///     ...
///     return EvaluatedMetrics{{"accuracy", right / all}};
///   }
///   ...
///   if (cluster.task_type() == "evaluator") return SidecarEvaluator(cluster, Evaluate).Start();
///
/// One thread, `main`'s.
class SidecarEvaluator {
 public:
  /// By name; at most 64, with names of up to 253 bytes. The log of this process has them, and the
  /// last ones are the run's: result.json has them as `metrics`, and those that built-in training
  /// has too ("auc", "accuracy", "log_loss", "calibration", "eval_loss") under these names as well;
  /// of those the chief's page shows the first four. One that is infinite or not a number is only
  /// logged.
  using Metrics = std::map<std::string, double>;
  /// Called for one checkpoint after the other. Its error ends Start, as an exception ends
  /// TensorFlow's; where reading the checkpoint has failed it is called again later, with the
  /// newest one. A function that wants to go on returns no metrics.
  using Function = std::function<Result<Metrics>(const SavedVariables& saved)>;

  SidecarEvaluator(ClusterResolver cluster, Function evaluate, SidecarEvaluatorOptions options = {})
      : cluster_(std::move(cluster)), evaluate_(std::move(evaluate)), options_(options) {}

  /// Plays the role until the run ends. Returns the exit code of the process
  /// (docs/reference/exit-codes.md): 0 the program has finished, 85 this process was told to stop
  /// or the run drains, 86 another process has its place. The error of the function.
  /// FAILED_PRECONDITION: the task is no evaluator, the job has no spec.program, another program
  /// than the chief's, or not the first role of this process. INVALID_ARGUMENT: the cluster or the
  /// job cannot be used. DEADLINE_EXCEEDED: the chief was not heard for
  /// spec.program.peerTimeoutSeconds. Mirrors SidecarEvaluator.start.
  Result<int> Start();

 private:
  ClusterResolver cluster_;
  Function evaluate_;
  SidecarEvaluatorOptions options_;
};

/// What an evaluation has found, by name.
using EvaluatedMetrics = SidecarEvaluator::Metrics;

}  // namespace pstrain
