#include "runtime/model/wide_and_deep.h"

#include <optional>
#include <utility>
#include <vector>

#include "runtime/model/layers/deep_input.h"
#include "runtime/model/layers/linear_part.h"
#include "runtime/model/layers/mlp.h"
#include "runtime/model/layers/model_variables.h"
#include "runtime/model/layers/sigmoid_loss.h"

namespace pstrain {
namespace {

class WideAndDeepModel final : public Model {
 public:
  WideAndDeepModel(const Training& training, const FeatureSet& set)
      : variables_(training), linear_(training.features(), set, variables_) {
    const auto& hidden_units = training.model().wide_and_deep().hidden_units();
    if (hidden_units.empty()) return;
    input_.emplace(training.features(), set, variables_);
    mlp_.emplace(hidden_units, input_->width(), variables_);
  }

  const std::vector<VariableSpec>& variables() const override { return variables_.specs(); }

  /// Whether there is an MLP and no feature enters it.
  bool lacks_deep_features() const { return input_ && input_->width() == 0; }

  BatchPlan Plan(const Batch& batch) const override { return variables_.Plan(batch); }

  StepResult Step(const Batch& batch, const BatchPlan& plan, const Parameters& values,
                  Parameters* gradients) const override {
    variables_.ZeroGradients(plan, *gradients);
    StepResult result{.records = batch.records};
    if (batch.records == 0) return result;
    Mlp::Activations activations;
    std::vector<float> logits = Forward(batch, plan, values, activations);
    result.loss = SigmoidLossAndGradient(batch.labels, logits);
    linear_.Backward(batch, plan, logits, *gradients);
    if (!mlp_) return result;
    const std::vector<float> dinput =
        mlp_->Backward(batch.records, activations, std::move(logits), values, *gradients);
    input_->Backward(batch, plan, dinput, *gradients);
    return result;
  }

  std::vector<float> Predict(const Batch& batch, const BatchPlan& plan,
                             const Parameters& values) const override {
    Mlp::Activations activations;
    std::vector<float> predictions = Forward(batch, plan, values, activations);
    SigmoidInPlace(predictions);
    return predictions;
  }

  ModelGraph::Tensor Describe(ModelGraph& graph) const override {
    const ModelGraph::Tensor linear = linear_.Describe(graph);
    if (!mlp_) return linear;
    return graph.Add(linear, mlp_->Describe(graph, input_->Describe(graph).matrix));
  }

 private:
  /// The logits; `activations` stays empty without an MLP.
  std::vector<float> Forward(const Batch& batch, const BatchPlan& plan, const Parameters& values,
                             Mlp::Activations& activations) const {
    std::vector<float> logits = linear_.Forward(batch, plan, values);
    if (!mlp_) return logits;
    activations = mlp_->Forward(batch.records, input_->Forward(batch, plan, values), values);
    for (std::size_t i = 0; i < batch.records; ++i) logits[i] += activations.back()[i];
    return logits;
  }

  ModelVariables variables_;
  LinearPart linear_;
  /// Both or none.
  std::optional<DeepInput> input_;
  std::optional<Mlp> mlp_;
};

}  // namespace

Result<std::unique_ptr<Model>> CreateWideAndDeep(const Training& training, const FeatureSet& set) {
  if (training.features().empty()) {
    return InvalidArgumentError("training.features: at least one is needed");
  }
  PSTRAIN_RETURN_IF_ERROR(CheckEmbeddings(training.features(), set));
  for (const Feature& feature : training.features()) {
    if (feature.embedding_dimension() > 0 &&
        training.model().wide_and_deep().hidden_units().empty()) {
      return InvalidArgumentError("feature " + feature.name() +
                                  ": embeddingDimension needs hiddenUnits");
    }
  }
  auto model = std::make_unique<WideAndDeepModel>(training, set);
  if (model->lacks_deep_features()) {
    return InvalidArgumentError("model.wideAndDeep.hiddenUnits: no feature enters the MLP");
  }
  return std::unique_ptr<Model>(std::move(model));
}

}  // namespace pstrain
