#include "runtime/model/deep_fm.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/model/layers/deep_input.h"
#include "runtime/model/layers/factorization.h"
#include "runtime/model/layers/linear_part.h"
#include "runtime/model/layers/mlp.h"
#include "runtime/model/layers/model_variables.h"
#include "runtime/model/layers/sigmoid_loss.h"

namespace pstrain {
namespace {

class DeepFmModel final : public Model {
 public:
  DeepFmModel(const Training& training, const FeatureSet& set)
      : variables_(training),
        linear_(training.features(), set, variables_),
        input_(training.features(), set, variables_),
        machine_(input_) {
    const auto& hidden_units = training.model().deep_fm().hidden_units();
    if (!hidden_units.empty()) mlp_.emplace(hidden_units, input_.width(), variables_);
  }

  const std::vector<VariableSpec>& variables() const override { return variables_.specs(); }

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
    std::vector<float> dinput =
        mlp_ ? mlp_->Backward(batch.records, activations, logits, values, *gradients)
             : std::vector<float>(activations.front().size(), 0.0F);
    machine_.Backward(activations.front(), logits, dinput);
    input_.Backward(batch, plan, dinput, *gradients);
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
    const DeepInput::Described input = input_.Describe(graph);
    const ModelGraph::Tensor logits =
        FactorizationMachine::Describe(graph, linear, input.embeddings);
    return mlp_ ? graph.Add(logits, mlp_->Describe(graph, input.matrix)) : logits;
  }

 private:
  /// The logits; activations.front() is the matrix of the embeddings, with and without an MLP.
  std::vector<float> Forward(const Batch& batch, const BatchPlan& plan, const Parameters& values,
                             Mlp::Activations& activations) const {
    std::vector<float> logits = linear_.Forward(batch, plan, values);
    std::vector<float> input = input_.Forward(batch, plan, values);
    machine_.Forward(input, logits);
    if (!mlp_) {
      activations.push_back(std::move(input));
      return logits;
    }
    activations = mlp_->Forward(batch.records, std::move(input), values);
    for (std::size_t i = 0; i < batch.records; ++i) logits[i] += activations.back()[i];
    return logits;
  }

  ModelVariables variables_;
  LinearPart linear_;
  DeepInput input_;
  FactorizationMachine machine_;
  std::optional<Mlp> mlp_;
};

/// The manifest is checked for the same in proto/job; a Training need not come from one.
Status CheckDimensions(const Training& training) {
  const Feature* first = nullptr;
  for (const Feature& feature : training.features()) {
    if (feature.embedding_dimension() <= 0) continue;
    if (first == nullptr) first = &feature;
    if (feature.embedding_dimension() == first->embedding_dimension()) continue;
    return InvalidArgumentError("feature " + feature.name() + ": embeddingDimension is " +
                                std::to_string(feature.embedding_dimension()) + ", that of " +
                                first->name() + " " + std::to_string(first->embedding_dimension()) +
                                "; deepFm multiplies embeddings with each other, so give all of "
                                "them one dimension");
  }
  if (first != nullptr) return OkStatus();
  return InvalidArgumentError(
      "training.features: deepFm needs a feature with an embedding; set embeddingDimension");
}

}  // namespace

Result<std::unique_ptr<Model>> CreateDeepFm(const Training& training, const FeatureSet& set) {
  PSTRAIN_RETURN_IF_ERROR(CheckEmbeddings(training.features(), set));
  PSTRAIN_RETURN_IF_ERROR(CheckDimensions(training));
  return std::unique_ptr<Model>(std::make_unique<DeepFmModel>(training, set));
}

}  // namespace pstrain
