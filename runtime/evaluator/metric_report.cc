#include "runtime/evaluator/metric_report.h"

namespace pstrain {

std::map<std::string, double> ReportedMetrics(const MetricValues& values,
                                              const Evaluation& evaluation) {
  std::map<std::string, double> report = {{"records", static_cast<double>(values.records)},
                                          {"eval_loss", values.log_loss}};
  for (const int metric : evaluation.metrics()) {
    switch (metric) {
      case Evaluation::auc:
        // Of records of one class there is none, which the result shows as null.
        if (values.auc) report["auc"] = *values.auc;
        if (values.auc_200_thresholds) report["auc_200_thresholds"] = *values.auc_200_thresholds;
        break;
      case Evaluation::accuracy:
        report["accuracy"] = values.accuracy;
        break;
      case Evaluation::logLoss:
        report["log_loss"] = values.log_loss;
        break;
      case Evaluation::calibration:
        report["calibration"] = values.calibration;
        break;
      default:  // the manifest reader admits no other
        break;
    }
  }
  return report;
}

Status CheckScores(const BinaryMetrics& metrics, const std::string& checkpoint) {
  if (metrics.not_numbers() == 0) return OkStatus();
  return OutOfRangeError(
      "checkpoint " + checkpoint + ": " + std::to_string(metrics.not_numbers()) + " of " +
      std::to_string(metrics.not_numbers() + metrics.records()) +
      " scores are not numbers; correct the records of spec.training.evaluation.input whose "
      "features are out of range, or lower the learning rate");
}

}  // namespace pstrain
