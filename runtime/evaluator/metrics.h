#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace pstrain {

/// What an evaluation says of predictions of a binary label.
struct MetricValues {
  std::uint64_t records = 0;
  /// Area under the ROC curve, exact: the share of (positive, negative) pairs in the right order, a
  /// tie counting half. Nothing when one of the classes is absent: there is no such pair.
  std::optional<double> auc = {};
  /// The same as tf.keras.metrics.AUC() computes it: 200 thresholds, trapezoids.
  std::optional<double> auc_200_thresholds = {};
  /// Share of records with (prediction > 0.5) == (label > 0.5).
  double accuracy = 0;
  /// Mean binary cross-entropy, predictions clamped to [1e-7, 1 - 1e-7], as Keras does.
  double log_loss = 0;
  /// Mean prediction / mean label; 0 when the mean label is 0.
  double calibration = 0;
};

/// Collects predictions and labels batch by batch; keeps each prediction (8 bytes a record) for the
/// exact AUC. A label above 0.5 is positive. A value; one thread at a time.
class BinaryMetrics {
 public:
  /// A prediction that is not a number is counted and left out: it has no place in any order.
  /// REQUIRES: equal sizes; predictions within [0, 1] or NaN.
  void Add(std::span<const float> predictions, std::span<const float> labels);

  /// Those that are in the metrics.
  std::uint64_t records() const { return scored_.size(); }
  /// Those that were left out.
  std::uint64_t not_numbers() const { return not_numbers_; }
  /// All zeros, and no AUC, without records. Does not end the collection.
  MetricValues Compute() const;

 private:
  static constexpr std::size_t kThresholds = 200;

  std::optional<double> ExactAuc() const;
  std::optional<double> ThresholdAuc() const;

  /// (prediction, positive).
  std::vector<std::pair<float, bool>> scored_;
  /// Records by the highest threshold that their prediction exceeds. Threshold i is i / 199, the
  /// first a little below 0, the last a little above 1.
  std::array<std::uint64_t, kThresholds> positives_{};
  std::array<std::uint64_t, kThresholds> negatives_{};
  std::uint64_t correct_ = 0;
  std::uint64_t not_numbers_ = 0;
  double loss_sum_ = 0;
  double prediction_sum_ = 0;
  double label_sum_ = 0;
};

}  // namespace pstrain
