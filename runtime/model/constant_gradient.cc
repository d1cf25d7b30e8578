#include "runtime/model/constant_gradient.h"

#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>

#include "runtime/features/feature_set.h"
#include "runtime/features/fingerprint.h"
#include "runtime/input/batch_reader.h"
#include "runtime/model/row_request.h"

namespace pstrain {
namespace {

constexpr std::int64_t kExactFloats = std::int64_t{1} << 24;
constexpr std::uint32_t kRecordsPerRead = 4096;

int Gradient(std::uint64_t fingerprint, std::uint64_t element) {
  return static_cast<int>(CombineFingerprints(fingerprint, element) % 9) - 4;
}

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

/// Adds `count` elements of the record's gradient to `sums`.
template <typename Number>
void AddGradient(std::uint64_t fingerprint, std::size_t first_element, std::size_t count,
                 Number* sums) {
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] += static_cast<Number>(Gradient(fingerprint, first_element + i));
  }
}

Result<std::vector<float>> Weights(const std::vector<std::int64_t>& sums, double rate, int epochs) {
  std::vector<float> weights;
  weights.reserve(sums.size());
  for (const std::int64_t sum : sums) {
    const std::int64_t total = sum * epochs;
    if (std::abs(total) >= kExactFloats) {
      return InvalidArgumentError("constantGradient: a sum is too large to be exact in float32");
    }
    // From 0, as training does it: a sum of 0 leaves 0, not -0.
    weights.push_back(static_cast<float>(0.0 - rate * static_cast<double>(total)));
  }
  return weights;
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

Result<ConstantGradientResult> ExpectedConstantGradientResult(
    const Training& training, const std::filesystem::path& scratch) {
  if (!training.model().has_constant_gradient() || !training.optimizer().has_sgd()) {
    return InvalidArgumentError("the closed form needs model.constantGradient and optimizer.sgd");
  }
  const double rate = training.optimizer().sgd().learning_rate();
  int exponent = 0;
  if (std::frexp(rate, &exponent) != 0.5) {
    return InvalidArgumentError("optimizer.sgd.learningRate: the closed form needs a power of two");
  }
  const ConstantGradient& model = training.model().constant_gradient();
  const auto dense_size = static_cast<std::size_t>(model.dense_size());
  const auto rows = static_cast<std::size_t>(model.table_rows());
  const auto dimension = static_cast<std::size_t>(model.table_dimension());
  PSTRAIN_ASSIGN_OR_RETURN(FeatureSet features, FeatureSet::Create(training));
  PSTRAIN_ASSIGN_OR_RETURN(
      const std::unique_ptr<SequentialReader> reader,
      SequentialReader::Create(training.input(),
                               std::make_shared<const FeatureSet>(std::move(features)), scratch));
  std::vector<std::int64_t> dense(dense_size);
  std::vector<std::int64_t> table(rows * dimension);
  while (true) {
    PSTRAIN_ASSIGN_OR_RETURN(const Batch batch, reader->Next(kRecordsPerRead));
    if (batch.records + batch.skipped == 0) break;
    for (const std::uint64_t fingerprint : batch.fingerprints) {
      AddGradient(fingerprint, 0, dense_size, dense.data());
      AddGradient(fingerprint, dense_size, dimension,
                  table.data() + fingerprint % rows * dimension);
    }
  }
  ConstantGradientResult result;
  PSTRAIN_ASSIGN_OR_RETURN(result.dense, Weights(dense, rate, training.epochs()));
  PSTRAIN_ASSIGN_OR_RETURN(result.table, Weights(table, rate, training.epochs()));
  return result;
}

}  // namespace pstrain
