#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "runtime/worker/step_data.h"

namespace pstrain {

/// Where a closure gets values while it runs. Of the thread that runs it.
class ClosureReads {
 public:
  virtual ~ClosureReads() = default;
  /// The values as they are now, from all ps concurrently; waits for ps that are away. CANCELLED:
  /// this attempt is given up, and what the closure returns does not matter any more.
  /// INVALID_ARGUMENT: no such variable or row.
  virtual Result<StepValues> Read(const StepAccess& access) = 0;
  /// Told when what this attempt comes to does not matter any more. Any thread.
  virtual std::stop_token StopToken() const { return {}; }
};

/// What a closure has come to. A value.
struct ClosureOutcome {
  /// Not OK: its function has failed, and it changes nothing.
  Status status;
  /// What its function has returned, as the program writes it.
  std::string result;
  /// The rows that `updates` names; dense variables need not be read to be changed.
  StepAccess access;
  StepUpdates updates;
  /// What errors call its function.
  std::string function = {};
  /// All shards are to get what one attempt comes to (FunctionOptions::atomic).
  bool atomic = false;

  /// REQUIRES: !why.ok().
  static ClosureOutcome Failed(Status why) {
    ClosureOutcome outcome;
    outcome.status = std::move(why);
    return outcome;
  }
};

/// What a worker calls for each closure that it is granted; it knows what a payload means. Threads:
/// several call Run at a time; Declared comes before the first Run, and again beside others.
class ClosureRunner {
 public:
  virtual ~ClosureRunner() = default;
  /// All variables of the run, by id; more at the end later. An error ends the worker.
  virtual Status Declared(const std::vector<VariableSpec>& variables) = 0;
  virtual ClosureOutcome Run(const std::string& payload, ClosureReads& reads) = 0;
  /// What the payload calls, for a person; empty where that is not known.
  virtual std::string NameOf(const std::string& /*payload*/) const { return {}; }
};

}  // namespace pstrain
