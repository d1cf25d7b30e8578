#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "runtime/requests/ids.h"
#include "runtime/worker/step_data.h"

namespace pstrain {

/// What a step has read for one piece of work and wants to find again when it computes; the step
/// knows what is in it, nobody else looks.
class StepInput {
 public:
  virtual ~StepInput() = default;
};

/// One piece of granted work, read and not computed yet.
struct PreparedWork {
  StepAccess access;
  /// Records of the work id, bad ones included, and how many of them are bad and left out.
  std::uint32_t records = 0;
  std::uint32_t skipped = 0;
  std::unique_ptr<StepInput> input;
};

/// What a step has computed.
struct StepOutcome {
  /// The mean over the records that are not skipped.
  double loss = 0;
  StepUpdates updates;
};

/// What a worker does with its work: says which variables and rows a piece of it touches, is given
/// their values, and says what changes. The worker around it (StepLoop) knows nothing of inputs and
/// models; it asks the ps, finds out whether what came out is finite, and reports. Of equal work
/// and values comes an equal outcome, bit for bit: work that is lost half done is computed again.
///
/// Threads: one calls Prepare, another one Compute, any Describe; so Prepare of the next work runs
/// beside Compute.
class WorkerStep {
 public:
  virtual ~WorkerStep() = default;

  /// All variables of the run, by id: before the first Prepare, and again, with more at the end,
  /// before the first work that the chief grants after it has declared them. From the thread of
  /// Prepare. An error ends the worker.
  virtual Status Declared(const std::vector<VariableSpec>& variables) {
    static_cast<void>(variables);
    return OkStatus();
  }
  /// Reads what the work is done with; may wait for a disk. An error ends the worker, and the job
  /// where IsInvalidInput of it (runtime/cluster/permanent_failure.h).
  virtual Result<PreparedWork> Prepare(WorkId work_id) = 0;
  /// `values`: of work.access. The step may move them to where it computes, and leaves them as they
  /// were.
  virtual StepOutcome Compute(const PreparedWork& work, StepValues& values) = 0;
  /// For messages: "epoch 0, batch 12 (...)".
  virtual std::string Describe(WorkId work_id) const = 0;
};

}  // namespace pstrain
