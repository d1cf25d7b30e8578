#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace pstrain::local {

/// How far a job is. A value; any thread.
struct ProgressState {
  std::string job;
  double steps = 0;
  double committed = 0;
  double expected = 0;
  /// 0: not known.
  int epochs = 0;
  double examples_per_second = 0;
  std::optional<double> loss;
  std::optional<double> auc;
  /// Of the loss, from the beginning on.
  std::vector<double> losses;

  double Done() const { return expected > 0 ? committed / expected : 0; }
  /// The epoch that is being trained, from 1.
  int Epoch() const;
};

/// One line for a terminal of that many columns, which it never fills: the last column stays free,
/// so that no terminal begins another line. What is least needed is left out. Pure; any thread.
std::string TerminalLine(const ProgressState& state, std::size_t columns, bool utf8);

/// One line for a log, with all there is and without letters beyond ASCII.
std::string LogLine(const ProgressState& state);

}  // namespace pstrain::local
