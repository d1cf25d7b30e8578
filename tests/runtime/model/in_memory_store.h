#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/model/model.h"

namespace pstrain {

/// All parameters of a model in one process, with their optimizer: a stand-in for the ps in tests
/// of models. One thread at a time.
class InMemoryStore {
 public:
  explicit InMemoryStore(std::vector<VariableSpec> variables);

  /// The dense variables and the rows that the plan asks for.
  Parameters Pull(const BatchPlan& plan);
  /// Applies the optimizer of each variable: SGD, or Adagrad as TensorFlow's AdagradV2.
  void Push(const BatchPlan& plan, const Parameters& gradients);

 private:
  struct Cells {
    std::vector<float> values;
    std::vector<float> accumulators;
  };
  Cells Initial(const VariableSpec& variable, std::uint64_t first, std::size_t count) const;
  Cells& Row(const VariableSpec& variable, std::uint64_t row);
  static void Apply(const Optimizer& optimizer, const float* gradients, Cells& cells);

  std::vector<VariableSpec> variables_;
  std::vector<Cells> dense_;
  std::vector<std::unordered_map<std::uint64_t, Cells>> tables_;
};

}  // namespace pstrain
