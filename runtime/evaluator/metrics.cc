#include "runtime/evaluator/metrics.h"

#include <algorithm>
#include <cmath>

namespace pstrain {
namespace {

constexpr double kLogLossEpsilon = 1e-7;  // keras.backend.epsilon()

/// The area between two neighbouring points of the ROC curve, in pairs of records.
double Trapezoid(double width, double height_a, double height_b) {
  return width * (height_a + height_b) / 2;
}

}  // namespace

void BinaryMetrics::Add(std::span<const float> predictions, std::span<const float> labels) {
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const float prediction = predictions[i];
    if (std::isnan(prediction)) {
      ++not_numbers_;
      continue;
    }
    const bool positive = labels[i] > 0.5F;
    scored_.emplace_back(prediction, positive);
    const float step = std::ceil(prediction * static_cast<float>(kThresholds - 1)) - 1;
    const auto bucket =
        static_cast<std::size_t>(std::clamp(step, 0.0F, static_cast<float>(kThresholds - 1)));
    ++(positive ? positives_ : negatives_)[bucket];
    if ((prediction > 0.5F) == positive) ++correct_;
    const double clamped = std::clamp(double{prediction}, kLogLossEpsilon, 1 - kLogLossEpsilon);
    const double label = labels[i];
    loss_sum_ -= label * std::log(clamped) + (1 - label) * std::log1p(-clamped);
    prediction_sum_ += prediction;
    label_sum_ += label;
  }
}

// The Mann-Whitney statistic, U / (P N) for P positives and N negatives, where U is the number of
// pairs in which the positive one has the higher prediction, a tie counting 1/2 (J. A. Hanley and
// B. J. McNeil, "The Meaning and Use of the Area under a Receiver Operating Characteristic (ROC)
// Curve", Radiology 143, 1982). By rising prediction, each group of equal ones with p positives and
// n negatives adds p (negatives below + n / 2), which is the trapezoid between two points of the
// curve.
std::optional<double> BinaryMetrics::ExactAuc() const {
  std::vector<std::pair<float, bool>> sorted = scored_;
  std::sort(sorted.begin(), sorted.end());
  double area = 0;
  double positives = 0;
  double negatives = 0;
  for (std::size_t i = 0; i < sorted.size();) {
    double tied_positives = 0;
    double tied_negatives = 0;
    const float prediction = sorted[i].first;
    for (; i < sorted.size() && sorted[i].first == prediction; ++i) {
      ++(sorted[i].second ? tied_positives : tied_negatives);
    }
    area += Trapezoid(tied_positives, negatives, negatives + tied_negatives);
    positives += tied_positives;
    negatives += tied_negatives;
  }
  if (positives == 0 || negatives == 0) return std::nullopt;
  return area / (positives * negatives);
}

// The Riemann sum of tf.keras.metrics.AUC (curve "ROC", summation_method "interpolation"): at the
// threshold t_i, TP_i and FP_i are the records above it, and the area is the sum of
// (FP_i - FP_i+1) (TP_i + TP_i+1) / 2 over P N. A curve of 200 points misses the order of records
// between two thresholds, therefore it differs from the exact one.
std::optional<double> BinaryMetrics::ThresholdAuc() const {
  double area = 0;
  double true_positives = 0;
  double false_positives = 0;
  for (std::size_t i = kThresholds; i-- > 0;) {
    const auto positives = static_cast<double>(positives_[i]);
    const auto negatives = static_cast<double>(negatives_[i]);
    area += Trapezoid(negatives, true_positives, true_positives + positives);
    true_positives += positives;
    false_positives += negatives;
  }
  const double pairs = true_positives * false_positives;
  if (pairs == 0) return std::nullopt;
  return area / pairs;
}

MetricValues BinaryMetrics::Compute() const {
  MetricValues values;
  values.records = records();
  if (values.records == 0) return values;
  const auto count = static_cast<double>(values.records);
  values.auc = ExactAuc();
  values.auc_200_thresholds = ThresholdAuc();
  values.accuracy = static_cast<double>(correct_) / count;
  values.log_loss = loss_sum_ / count;
  values.calibration = label_sum_ > 0 ? prediction_sum_ / label_sum_ : 0;
  return values;
}

}  // namespace pstrain
