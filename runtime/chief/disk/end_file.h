#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/backoff.h"
#include "base/status.h"
#include "runtime/chief/chief_dependencies.h"
#include "runtime/chief/run_numbers.h"

namespace pstrain {

/// Writes how a run ended: result.json when it is finished, stopped.json after a drain. A result
/// that cannot be written is tried again after 1, 2, 4 .. 30 s, for as long as it takes: the run is
/// finished only with it, and the chief's page says meanwhile why it has not ended. stopped.json is
/// tried once: a drain has little time, and without the file nothing is lost but a comparison.
/// Nothing is written once another chief has taken the run.
/// Touches the run's directory through Disk. The chief's lock guards it: one thread at a time.
class EndFile {
 public:
  explicit EndFile(const ChiefDependencies& chief)
      : chief_(chief),
        pauses_({.initial = std::chrono::seconds(1), .cap = std::chrono::seconds(30)}) {}

  /// Has the file written, unless that is under way, done, or waits for its next try. `json`: its
  /// content.
  void Write(bool finished, const std::function<std::string()>& json);
  /// Nothing more is to be done for that file.
  bool Done(bool finished) const { return done_ == finished; }
  /// Another chief has taken the run: the end is its to write.
  bool superseded() const { return superseded_; }
  /// Puts into `problem` what keeps the result of a finished run from being written; leaves it as
  /// it is when nothing does. It belongs there: the directory is the same, and so is what helps.
  void Report(CheckpointProblem& problem) const;

 private:
  void Written(bool finished, const Status& status);

  const ChiefDependencies chief_;
  Backoff pauses_;
  std::optional<ProtocolTime> again_;
  /// Of result.json: since when writing it fails, and why it failed last.
  std::optional<ProtocolTime> failing_since_;
  Status error_;
  bool writing_ = false;
  bool superseded_ = false;
  std::optional<bool> done_;
};

}  // namespace pstrain
