#include "runtime/evaluator/checkpoint_scorer.h"

#include <cstddef>

namespace pstrain {

Result<CheckpointScorer> CheckpointScorer::Open(const std::string& checkpoint_directory,
                                                const Model& model) {
  PSTRAIN_ASSIGN_OR_RETURN(CheckpointReader checkpoint,
                           CheckpointReader::Open(checkpoint_directory));
  CheckpointScorer scorer(model, std::move(checkpoint));
  for (const VariableSpec& variable : model.variables()) {
    std::vector<float>& values = scorer.values_.dense.emplace_back();
    if (variable.kind() != VariableSpec::DENSE) continue;
    PSTRAIN_ASSIGN_OR_RETURN(values, scorer.checkpoint_.Dense(variable.name()));
  }
  return scorer;
}

Result<std::vector<float>> CheckpointScorer::Score(const Batch& batch) {
  const BatchPlan plan = model_->Plan(batch);
  values_.rows.clear();
  for (const RowRequest& request : plan.requests) {
    const auto variable = static_cast<std::size_t>(request.variable);
    PSTRAIN_ASSIGN_OR_RETURN(values_.rows.emplace_back(),
                             checkpoint_.Rows(model_->variables()[variable].name(), request.rows));
  }
  return model_->Predict(batch, plan, values_);
}

}  // namespace pstrain
