#pragma once

#include <map>
#include <string>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/evaluator/metrics.h"

namespace pstrain {

/// What the evaluator tells the chief of one evaluation: the metrics that the job lists, by the
/// names `auc` (with `auc_200_thresholds`), `accuracy`, `log_loss` and `calibration`; always
/// `records`, and `eval_loss`, the mean loss by which a resumed run shows that it was restored.
/// Pure; any thread, as the next one.
std::map<std::string, double> ReportedMetrics(const MetricValues& values,
                                              const Evaluation& evaluation);

/// OUT_OF_RANGE names the checkpoint when some of its scores are not numbers: such a model has no
/// metrics, and another evaluation of it would find the same.
Status CheckScores(const BinaryMetrics& metrics, const std::string& checkpoint);

}  // namespace pstrain
