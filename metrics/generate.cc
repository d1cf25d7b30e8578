// pstrain-metrics: writes the list of all metrics (docs/metrics.md) to stdout.

#include <cstdio>
#include <string>

#include "metrics/document.h"
#include "metrics/table.h"
#include "proto/contract/exit_codes.h"

int main() {
  const std::string text = pstrain::WriteMetricsDocument(pstrain::MetricTable());
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written ? pstrain::kExitSuccess : pstrain::kExitFailure;
}
