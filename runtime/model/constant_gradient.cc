#include "runtime/model/constant_gradient.h"

#include <string>
#include <utility>

#include "runtime/features/fingerprint.h"
#include "runtime/model/layers/unique_ids.h"

namespace pstrain {
namespace {

VariableSpec Declare(std::uint32_t id, const std::string& name, VariableSpec::Kind kind,
                     const Training& training) {
  VariableSpec variable;
  variable.set_id(id);
  variable.set_name(name);
  variable.set_kind(kind);
  variable.mutable_initializer()->set_kind(Initializer::ZEROS);
  variable.mutable_initializer()->set_seed(training.seed());
  *variable.mutable_optimizer() = training.optimizer();
  return variable;
}

/// sums[i] += g(fingerprint, first_element + i) for i < count.
void AddGradient(std::uint64_t fingerprint, std::size_t first_element, std::size_t count,
                 float* sums) {
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] += static_cast<float>(ConstantGradientModel::Gradient(fingerprint, first_element + i));
  }
}

}  // namespace

ConstantGradientModel::ConstantGradientModel(const Training& training)
    : dense_size_(static_cast<std::size_t>(training.model().constant_gradient().dense_size())),
      rows_(static_cast<std::size_t>(training.model().constant_gradient().table_rows())),
      dimension_(static_cast<std::size_t>(training.model().constant_gradient().table_dimension())) {
  VariableSpec dense = Declare(kDense, "constant/dense", VariableSpec::DENSE, training);
  dense.add_shape(static_cast<std::int64_t>(dense_size_));
  VariableSpec table = Declare(kTable, "constant/table", VariableSpec::EMBEDDING, training);
  table.add_shape(static_cast<std::int64_t>(rows_));
  table.add_shape(static_cast<std::int64_t>(dimension_));
  variables_ = {std::move(dense), std::move(table)};
}

int ConstantGradientModel::Gradient(std::uint64_t fingerprint, std::uint64_t element) {
  return static_cast<int>(CombineFingerprints(fingerprint, element) % 9) - 4;
}

BatchPlan ConstantGradientModel::Plan(const Batch& batch) const {
  std::vector<std::uint64_t> ids;
  ids.reserve(batch.fingerprints.size());
  std::vector<std::uint32_t> offsets{0};
  for (const std::uint64_t fingerprint : batch.fingerprints) {
    ids.push_back(fingerprint % rows_);
    offsets.push_back(static_cast<std::uint32_t>(ids.size()));
  }
  UniqueIds unique = MakeUnique(ids);
  BatchPlan plan;
  plan.dense = {kDense};
  plan.requests.push_back({kTable, std::move(unique.rows)});
  plan.positions.push_back(std::move(unique.positions));
  plan.offsets.push_back(std::move(offsets));
  return plan;
}

StepResult ConstantGradientModel::Step(const Batch& batch, const BatchPlan& plan,
                                       const Parameters& /*values*/, Parameters* gradients) const {
  gradients->dense.resize(variables_.size());
  gradients->dense[kDense].assign(dense_size_, 0.0F);
  gradients->dense[kTable].clear();
  gradients->rows.resize(1);
  gradients->rows[0].assign(plan.requests[0].rows.size() * dimension_, 0.0F);
  StepResult result;
  result.records = batch.records;
  for (std::size_t i = 0; i < batch.records; ++i) {
    AddGradient(batch.fingerprints[i], 0, dense_size_, gradients->dense[kDense].data());
    AddGradient(batch.fingerprints[i], dense_size_, dimension_,
                gradients->rows[0].data() + plan.positions[0][i] * dimension_);
    result.loss += batch.labels[i];
  }
  if (batch.records > 0) result.loss /= batch.records;
  return result;
}

std::vector<float> ConstantGradientModel::Predict(const Batch& batch, const BatchPlan& /*plan*/,
                                                  const Parameters& /*values*/) const {
  return std::vector<float>(batch.records, 0.5F);
}

ModelGraph::Tensor ConstantGradientModel::Describe(ModelGraph& graph) const {
  return graph.Zeros();
}

Result<std::unique_ptr<Model>> CreateConstantGradient(const Training& training,
                                                      const FeatureSet& /*set*/) {
  return std::unique_ptr<Model>(std::make_unique<ConstantGradientModel>(training));
}

}  // namespace pstrain
