#pragma once

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

#include "local/replicas/agent_reading.h"
#include "local/replicas/replica_set.h"

namespace pstrain::local {

/// Shows how far the job is: on a terminal one line that is rewritten, elsewhere a line every few
/// seconds. One thread.
class ProgressView {
 public:
  ProgressView(std::string job, std::FILE* out, bool terminal)
      : job_(std::move(job)), out_(out), terminal_(terminal) {}

  /// Takes what the chief says; prints when it is time.
  void Update(const AgentReading& chief, SteadyTime now);
  /// Prints a line of its own above the progress line.
  void Say(const std::string& line);
  /// Ends the progress line.
  void Finish();

 private:
  std::string Line(const AgentReading& chief) const;
  void UpdateRate(double committed, SteadyTime now);

  std::string job_;
  std::FILE* out_;
  bool terminal_;
  bool line_open_ = false;
  std::optional<SteadyTime> printed_at_;
  std::optional<SteadyTime> rate_at_;
  double rate_committed_ = 0;
  double examples_per_second_ = 0;
};

}  // namespace pstrain::local
