#pragma once

#include <pstrain/sidecar_evaluator.h>

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "runtime/evaluator/evaluator_loop.h"

namespace pstrain::program {

/// Has a program's function evaluate checkpoints. Owner: SidecarEvaluator::Start. One thread.
class Sidecar {
 public:
  /// `stop`: the process was told to stop.
  Sidecar(SidecarEvaluator::Function evaluate, const SidecarEvaluatorOptions& options,
          std::stop_token stop)
      : evaluate_(std::move(evaluate)),
        last_mark_(options.max_evaluations),
        stop_(std::move(stop)) {}

  /// The checkpoint in that folder. One that cannot be read is tried again; the function's own
  /// error ends the evaluator. Nothing happens once the last mark was evaluated.
  EvaluationOutcome Evaluate(const std::string& folder);

 private:
  const SidecarEvaluator::Function evaluate_;
  const std::optional<std::int64_t> last_mark_;
  const std::stop_token stop_;
  bool done_ = false;
};

}  // namespace pstrain::program
