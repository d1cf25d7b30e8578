#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/text/json.h"

namespace pstrain::local {

/// Of a metric of an evaluation, over the part of a run that was seen here.
struct MetricSummary {
  std::string name;
  std::optional<double> last;
  std::optional<double> best;
  /// Passes over the input at the best one.
  double best_epoch = 0;
};

/// What a person wants to know of a run that has ended, beside its report.
struct SummaryFacts {
  std::vector<MetricSummary> metrics;
  /// Attempts of replicas that were followed by another one, killed or crashed.
  std::vector<std::string> ends;
  /// Of the newest checkpoint; empty: there is none.
  std::string checkpoint;
  /// Commands, for a shell.
  std::vector<std::string> next;
};

/// Several lines for a person, without escape codes: state, metrics, counts, a table of ps and
/// workers, what was survived, the checkpoint, what to do next. `report`: of MakeRunReport. Lines
/// are at most `columns` wide (40 at least), but for paths, commands and what replicas say. Pure;
/// any thread.
std::string RunSummary(const Json& report, const SummaryFacts& facts, std::size_t columns);

}  // namespace pstrain::local
