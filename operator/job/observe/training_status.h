#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/status.h"
#include "base/text/json.h"
#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// What the chief said of itself at one moment. A value; the functions here are pure: any thread.
struct ProgressReading {
  Json values;  // object: stat key -> number
  plan::Time at;
  std::int32_t attempt = 0;  // of the chief
  bool last = false;         // what it left behind when it ended

  /// By attempt first: clocks of nodes differ, and Kubernetes' times are whole seconds.
  bool IsNewerThan(const ProgressReading& other) const {
    return std::tie(attempt, last, at) > std::tie(other.attempt, other.last, other.at);
  }
};

/// Whose progress is asked for.
struct ProgressSource {
  std::string job_uid;
  plan::ReplicaId replica;
  std::int32_t attempt = 0;
};

/// Reads the body of the agent's /progress. INVALID_ARGUMENT when it has another form;
/// FAILED_PRECONDITION when it is the answer of another agent, or does not say whose it is: a pod
/// may have got the address of one that is gone.
Result<ProgressReading> ParseProgress(std::string_view body, plan::Time at,
                                      const ProgressSource& source);
/// The same, whoever says it: of a text that the apiserver has of that very attempt.
Result<ProgressReading> ParseProgress(std::string_view body, plan::Time at, std::int32_t attempt);

/// Reads the agent's termination message; nothing when it carries no values.
std::optional<ProgressReading> ReadingFromTermination(std::string_view message, plan::Time at,
                                                      std::int32_t attempt);

/// The counts of a chief that has ended; nothing when it does not say all of them, or did not know
/// them yet.
std::optional<plan::FinalCounts> FinalCountsOf(const ProgressReading& reading);

/// status.training of a reading. The rate is that since `before`; without one, or when the chief
/// has started again since, it stays `former`'s. So does what the reading does not have: a chief
/// that has just been replaced does not know yet how far the job is.
TrainingStatus MakeTrainingStatus(const ProgressReading& reading, const ProgressReading* before,
                                  const TrainingStatus& former);

}  // namespace pstrain::job
