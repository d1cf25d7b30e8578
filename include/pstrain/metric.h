#pragma once

#include <pstrain/status.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace pstrain {

namespace program {
class Run;
class StepState;
}  // namespace program

/// A mean that functions add to, as a function meets it. It leaves with what the function returns:
/// a function that fails, or an attempt that is lost, adds nothing. Lives while the function runs;
/// used by the thread that runs it. Mirrors tf.keras.metrics.Mean in a worker_fn.
class StepMetric {
 public:
  /// Adds to the sum and to the weight that the mean is divided by. Mirrors
  /// tf.keras.metrics.Mean.update_state. The function's error is OUT_OF_RANGE: one of them is
  /// infinite or not a number; INVALID_ARGUMENT: the metric has no name.
  void Add(double numerator, double denominator = 1);

 private:
  friend class Step;
  StepMetric(program::StepState& state, std::string name) : state_(state), name_(std::move(name)) {}

  program::StepState& state_;
  std::string name_;
};

/// A mean that functions add to, as the coordinator sees it: each call that has succeeded is in it
/// once, whatever was lost on the way, in the order in which calls were scheduled, so that the sum
/// is the same in each run. Mirrors tf.keras.metrics.Mean created under strategy.scope(); it is no
/// variable and lies on no ps. A value: copies are of the same metric. Any thread.
class Metric {
 public:
  /// The sum divided by the weight; 0 where the weight is 0. Mirrors Mean.result.
  double Value() const;
  /// The weight: all denominators. Mirrors Mean.count.
  double Count() const;
  /// Begins again: calls that were scheduled before do not count any more, also those that are not
  /// done yet. Mirrors Mean.reset_state.
  void Reset();

 private:
  friend class ClusterCoordinator;
  Metric(std::shared_ptr<program::Run> run, std::string name)
      : run_(std::move(run)), name_(std::move(name)) {}

  std::shared_ptr<program::Run> run_;
  std::string name_;
};

}  // namespace pstrain
