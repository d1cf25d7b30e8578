#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/control.pb.h"
#include "runtime/input/input_index.h"
#include "runtime/model/model.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// Looks whether what a step has computed, and what it was computed from, are finite numbers: an
/// infinite gradient, or one that is not a number (NaN), spoils every value that it touches for the
/// rest of the run. So a worker looks before it pushes. Immutable; any thread.
class FiniteCheck {
 public:
  /// `variables`: by id; `shards`: of the run.
  FiniteCheck(std::vector<VariableSpec> variables, std::uint32_t shards);

  /// What is not finite, for a message: "the loss", "the gradient of variable NAME" or both.
  /// Nothing: all is. Reads each gradient once.
  std::optional<std::string> OfStep(const StepResult& result, const BatchPlan& plan,
                                    const Parameters& gradients) const;

  /// The first variable whose pulled values are not finite, with its shard and the ps that has it.
  /// Then the batch is not to blame.
  std::optional<std::string> OfValues(const BatchPlan& plan, const Parameters& values,
                                      const Membership& membership) const;

 private:
  /// Where the first value lies that is not finite.
  struct Place {
    std::uint32_t variable = 0;
    ShardId shard = 0;
  };
  std::optional<Place> Find(const BatchPlan& plan, const Parameters& parameters) const;
  ShardId ShardOfDense(const VariableSpec& variable, std::size_t element, std::size_t count) const;

  const std::vector<VariableSpec> variables_;
  const std::uint32_t shards_;
};

/// "epoch 0, batch 12 (8 of the records 1 to 64 of data.csv)": blocks are shuffled, so that a
/// batch has records of its whole block.
std::string DescribeBatch(const InputIndex& index, WorkId work_id);

}  // namespace pstrain
