#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "proto/contract/control.pb.h"
#include "runtime/requests/ids.h"
#include "runtime/worker/step_data.h"
#include "runtime/worker/worker_step.h"

namespace pstrain {

/// Looks whether what a step has computed, and what it was computed from, are finite numbers: an
/// infinite gradient, or one that is not a number (NaN), spoils every value that it touches for the
/// rest of the run. So a worker looks before it pushes. Any thread.
class FiniteCheck {
 public:
  /// `variables`: by id; `shards`: of the run.
  FiniteCheck(std::vector<VariableSpec> variables, std::uint32_t shards);
  /// There are more variables. REQUIRES: they begin with those that are known.
  void Extend(std::vector<VariableSpec> variables);

  /// What is not finite, for a message: "the loss", "the gradient of variable NAME" or both.
  /// Nothing: all is. Reads each update once.
  std::optional<std::string> OfStep(const StepOutcome& outcome, const StepAccess& access) const;

  /// The first variable whose pulled values are not finite, with its shard and the ps that has it.
  /// Then the work is not to blame.
  std::optional<std::string> OfValues(const StepAccess& access, const StepValues& values,
                                      const Membership& membership) const;

 private:
  /// Where the first value lies that is not finite.
  struct Place {
    std::uint32_t variable = 0;
    ShardId shard = 0;
  };
  using Variables = std::vector<VariableSpec>;
  std::shared_ptr<const Variables> variables() const;
  std::optional<Place> Find(const StepAccess& access, const StepValues& values,
                            const Variables& variables) const;
  ShardId ShardOfDense(const VariableSpec& variable, std::uint64_t row) const;

  mutable Mutex mutex_;
  std::shared_ptr<const Variables> variables_ PSTRAIN_GUARDED_BY(mutex_);
  const std::uint32_t shards_;
};

}  // namespace pstrain
