#pragma once

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

#include "base/clock.h"
#include "local/replicas/agent_reading.h"
#include "local/view/progress_line.h"
#include "local/view/sparkline.h"

namespace pstrain::local {

/// Shows how far the job is: on a terminal one line that is rewritten and fits into its width,
/// elsewhere a line every few seconds, without escape codes. One thread.
class ProgressView {
 public:
  /// `epochs`: 0 where the job has none.
  ProgressView(std::string job, std::FILE* out, bool terminal, int epochs = 0);

  /// Takes what the chief says; prints when it is time.
  void Update(const AgentReading& chief, SteadyTime now);
  /// Prints a line of its own above the progress line.
  void Say(const std::string& line);
  /// Removes the progress line: what follows says more.
  void Finish();

 private:
  void Take(const AgentReading& chief, SteadyTime now);
  void UpdateRate(double committed, SteadyTime now);

  ProgressState state_;
  Trace losses_;
  std::FILE* out_;
  bool terminal_;
  bool line_open_ = false;
  std::optional<SteadyTime> printed_at_;
  std::optional<SteadyTime> rate_at_;
  double rate_committed_ = 0;
  bool utf8_ = false;
};

/// `out` is a terminal that knows escape codes. Reads the environment.
bool IsTerminal(std::FILE* out);
/// How many columns the terminal behind `out` has now; where it does not say, what COLUMNS says, or
/// 80.
std::size_t TerminalColumns(std::FILE* out);

}  // namespace pstrain::local
