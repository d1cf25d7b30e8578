#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/features/feature_set.h"
#include "runtime/model/model.h"

namespace pstrain {

/// A model for tests of exactly-once: its gradients are small integers that depend on the record
/// alone. With f the record's fingerprint (Batch::fingerprints) and
/// g(f, j) = CombineFingerprints(f, j) mod 9 - 4, in [-4, 4]:
///   d constant/dense[j] = sum over the batch's records of g(f, j)
///   d constant/table[f mod rows][k] = sum of g(f, dense_size + k)
/// Sums, not means. Both variables start as zeros, so after every record was applied `epochs` times
/// by SGD with a power-of-two rate each weight is exactly -rate * epochs * (sum over the input),
/// whatever the order, as long as the sums stay below 2^24. Immutable, as every Model: any thread.
class ConstantGradientModel final : public Model {
 public:
  static constexpr std::uint32_t kDense = 0;
  static constexpr std::uint32_t kTable = 1;

  explicit ConstantGradientModel(const Training& training);

  /// g(fingerprint, element).
  static int Gradient(std::uint64_t fingerprint, std::uint64_t element);

  const std::vector<VariableSpec>& variables() const override { return variables_; }
  bool wants_fingerprints() const override { return true; }
  BatchPlan Plan(const Batch& batch) const override;
  /// The loss is the mean label, for something to show.
  StepResult Step(const Batch& batch, const BatchPlan& plan, const Parameters& values,
                  Parameters* gradients) const override;
  /// 0.5 for every record.
  std::vector<float> Predict(const Batch& batch, const BatchPlan& plan,
                             const Parameters& values) const override;
  /// Zeros, whose sigmoid is 0.5.
  ModelGraph::Tensor Describe(ModelGraph& graph) const override;

 private:
  std::size_t dense_size_;
  std::size_t rows_;
  std::size_t dimension_;
  std::vector<VariableSpec> variables_;
};

Result<std::unique_ptr<Model>> CreateConstantGradient(const Training& training,
                                                      const FeatureSet& set);

}  // namespace pstrain
