#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "base/status.h"
#include "local/progress_view.h"
#include "local/replicas/agent_reading.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::local {

/// Shows the evaluation loss of a stopped run's restored state before training continues: until it
/// is shown, the file `announce` (kRunAnnounceFile) in the run's directory keeps the chief from
/// granting. One thread.
class RestoredLoss {
 public:
  /// Nothing is to be shown.
  RestoredLoss() = default;
  RestoredLoss(RestoredLoss&& other) noexcept;
  RestoredLoss& operator=(RestoredLoss&&) = delete;
  /// Removes the file, if nothing was shown.
  ~RestoredLoss();

  /// Makes the file, when the run was stopped with a known loss. REQUIRES: no replica runs yet.
  static Result<RestoredLoss> Await(const PSTrainingJob& job, const std::string& run_id);

  /// Takes what the chief says. Once it knows the loss, prints a line to `view` and, when `json` is
  /// given, {"job","run_id","eval_loss","restored_eval_loss","batches_granted"} to it.
  Status Update(const AgentReading& chief, ProgressView& view, std::FILE* json);

 private:
  std::string job_;
  std::string run_id_;
  std::string file_;  // empty: nothing is awaited
  double stopped_loss_ = 0;
};

}  // namespace pstrain::local
