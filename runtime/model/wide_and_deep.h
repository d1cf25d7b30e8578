#pragma once

#include <span>
#include <utility>
#include <vector>

#include "runtime/model/model.h"
#include "runtime/model/wide_and_deep_layout.h"

namespace pstrain {

/// Wide & Deep (Cheng et al. 2016): logit = linear part + MLP over embeddings and numeric features;
/// sigmoid cross-entropy, mean over the records. Several ids of one feature are summed in the
/// linear part and averaged in an embedding; no id gives zeros.
class WideAndDeepModel final : public Model {
 public:
  explicit WideAndDeepModel(WideAndDeepLayout layout) : layout_(std::move(layout)) {}

  const std::vector<VariableSpec>& variables() const override { return layout_.variables; }
  BatchPlan Plan(const Batch& batch) const override;
  StepResult Step(const Batch& batch, const BatchPlan& plan, const Parameters& values,
                  Parameters* gradients) const override;
  std::vector<float> Predict(const Batch& batch, const BatchPlan& plan,
                             const Parameters& values) const override;

 private:
  /// activations[0] is the MLP's input, [i] the output of layer i - 1.
  using Activations = std::vector<std::vector<float>>;

  std::vector<float> DeepInput(const Batch& batch, const BatchPlan& plan,
                               const Parameters& values) const;
  std::vector<float> LinearLogits(const Batch& batch, const BatchPlan& plan,
                                  const Parameters& values) const;
  /// Logits; fills `activations`.
  std::vector<float> Forward(const Batch& batch, const BatchPlan& plan, const Parameters& values,
                             Activations& activations) const;
  void LinearBackward(const Batch& batch, const BatchPlan& plan, std::span<const float> dlogits,
                      Parameters& gradients) const;
  void DeepBackward(const Batch& batch, const BatchPlan& plan, const Parameters& values,
                    const Activations& activations, std::vector<float> dlogits,
                    Parameters& gradients) const;
  void EmbeddingBackward(const Batch& batch, const BatchPlan& plan, std::span<const float> dinput,
                         Parameters& gradients) const;
  void ResetGradients(const BatchPlan& plan, Parameters& gradients) const;

  WideAndDeepLayout layout_;
};

}  // namespace pstrain
