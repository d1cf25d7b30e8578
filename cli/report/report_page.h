#pragma once

#include <string>
#include <vector>

#include "base/text/json.h"
#include "local/history/history_point.h"

namespace pstrain {

/// What is known of a run.
struct ReportFacts {
  std::string job;
  std::string run_id;
  std::vector<local::HistoryPoint> points;
  /// What `pstrain run --json` has said at its end; null of a run that is not over.
  Json report;
};

/// A page of HTML about a run: its curves, the load of each ps and worker, the ends of replicas on
/// the time axis, and the numbers as tables. One file that asks nobody for anything and runs no
/// script. Pure; any thread.
std::string ReportPage(const ReportFacts& facts);

}  // namespace pstrain
