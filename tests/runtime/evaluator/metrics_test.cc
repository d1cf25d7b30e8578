#include "runtime/evaluator/metrics.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/text/json.h"
#include "tests/testing/golden.h"

namespace pstrain {
namespace {

std::vector<float> Floats(const Json& array) {
  std::vector<float> values;
  for (const Json& item : array.items()) values.push_back(static_cast<float>(*item.AsDouble()));
  return values;
}

TEST(BinaryMetrics, WhenComparedWithTensorFlow_IsTheSame) {
  const Json golden = ReadGolden("metrics.json");
  ASSERT_NE(golden.Find("cases"), nullptr);
  std::size_t cases = 0;
  for (const Json& entry : golden.Find("cases")->items()) {
    if (entry.Find("w") != nullptr) continue;  // records have no weights here
    ++cases;
    BinaryMetrics metrics;
    metrics.Add(Floats(*entry.Find("p")), Floats(*entry.Find("y")));
    const MetricValues values = metrics.Compute();
    // Where a class is absent TensorFlow says 0.
    const Json& auc = *entry.Find("auc")->Find("ROC/interpolation/200");
    EXPECT_NEAR(values.auc_200_thresholds.value_or(0), *auc.AsDouble(), 1e-6);
    EXPECT_NEAR(values.accuracy, *entry.Find("BinaryAccuracy")->AsDouble(), 1e-6);
    EXPECT_NEAR(values.log_loss, *entry.Find("BinaryCrossentropy")->AsDouble(), 1e-6);
  }
  EXPECT_GE(cases, 7U);
}

TEST(BinaryMetrics, WhenPredictionsTie_ExactAucCountsHalf) {
  Rng rng(11);
  std::vector<float> predictions;
  std::vector<float> labels;
  for (int i = 0; i < 300; ++i) {
    predictions.push_back(static_cast<float>(rng.Uniform(20)) / 20);
    labels.push_back(rng.Uniform(3) == 0 ? 1.0F : 0.0F);
  }
  double right = 0;
  double pairs = 0;
  for (std::size_t p = 0; p < labels.size(); ++p) {
    for (std::size_t n = 0; n < labels.size(); ++n) {
      if (!(labels[p] > labels[n])) continue;
      ++pairs;
      right += predictions[p] > predictions[n] ? 1 : predictions[p] == predictions[n] ? 0.5 : 0;
    }
  }
  BinaryMetrics metrics;
  metrics.Add(predictions, labels);
  EXPECT_NEAR(metrics.Compute().auc.value(), right / pairs, 1e-12);
}

TEST(BinaryMetrics, WhenAddedInParts_IsTheSameAsTogether) {
  const std::vector<float> predictions{0.1F, 0.8F, 0.4F, 0.9F};
  const std::vector<float> labels{0, 1, 1, 0};
  BinaryMetrics whole;
  whole.Add(predictions, labels);
  BinaryMetrics parts;
  parts.Add(std::span(predictions).first(1), std::span(labels).first(1));
  parts.Add(std::span(predictions).subspan(1), std::span(labels).subspan(1));
  EXPECT_EQ(parts.Compute().auc, whole.Compute().auc);
  EXPECT_EQ(parts.Compute().log_loss, whole.Compute().log_loss);
  EXPECT_NEAR(whole.Compute().calibration, 2.2 / 2, 1e-6);
  EXPECT_EQ(whole.records(), 4U);
}

TEST(BinaryMetrics, WhenAClassIsAbsentOrNothingWasAdded_HasNoAuc) {
  BinaryMetrics metrics;
  EXPECT_EQ(metrics.Compute().records, 0U);
  metrics.Add(std::vector<float>{0.25F, 0.75F}, std::vector<float>{0, 0});
  EXPECT_FALSE(metrics.Compute().auc.has_value());
  EXPECT_FALSE(metrics.Compute().auc_200_thresholds.has_value());
  EXPECT_EQ(metrics.Compute().calibration, 0);
  EXPECT_EQ(metrics.Compute().accuracy, 0.5);
}

// With NaN no order of the predictions is one: ExactAuc did not come to an end.
TEST(BinaryMetrics, WhenSomePredictionsAreNotNumbers_LeavesThemOutAndCountsThem) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  BinaryMetrics metrics;
  metrics.Add(std::vector<float>{kNaN, 0.25F, kNaN, 0.75F}, std::vector<float>{1, 0, 0, 1});
  EXPECT_EQ(metrics.records(), 2U);
  EXPECT_EQ(metrics.not_numbers(), 2U);
  EXPECT_EQ(metrics.Compute().auc, 1);
}

}  // namespace
}  // namespace pstrain
