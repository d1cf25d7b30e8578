#include <pstrain/metric.h>

#include "library/run.h"
#include "library/step_state.h"

namespace pstrain {

void StepMetric::Add(double numerator, double denominator) {
  state_.AddToMetric(name_, numerator, denominator);
}

double Metric::Value() const {
  const MetricSum sum = run_->metrics().Get(name_);
  return sum.denominator == 0 ? 0 : sum.numerator / sum.denominator;
}

double Metric::Count() const { return run_->metrics().Get(name_).denominator; }

void Metric::Reset() { run_->metrics().Reset(name_, run_->queue().calls()); }

}  // namespace pstrain
