#include "tests/runtime/model/expected_constant_gradient.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include "runtime/features/feature_set.h"
#include "runtime/input/batch_reader.h"
#include "runtime/model/constant_gradient.h"

namespace pstrain {
namespace {

constexpr std::int64_t kExactFloats = std::int64_t{1} << 24;
constexpr std::uint32_t kRecordsPerRead = 4096;

/// Adds `count` elements of the record's gradient to `sums`.
void AddGradient(std::uint64_t fingerprint, std::size_t first_element, std::size_t count,
                 std::int64_t* sums) {
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] += ConstantGradientModel::Gradient(fingerprint, first_element + i);
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
  PSTRAIN_ASSIGN_OR_RETURN(FeatureSet features, FeatureSet::Create({}, {.fingerprints = true}));
  PSTRAIN_ASSIGN_OR_RETURN(
      const std::unique_ptr<SequentialReader> reader,
      SequentialReader::Create(training.input(),
                               std::make_shared<const FeatureSet>(std::move(features)),
                               {.scratch = scratch}));
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
