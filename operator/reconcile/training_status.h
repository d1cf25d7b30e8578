#pragma once

#include <optional>
#include <string_view>

#include "base/json.h"
#include "base/status.h"
#include "operator/plan/snapshot.h"
#include "proto/psjob.pb.h"

namespace pstrain::reconcile {

/// What the chief said of itself at one moment.
struct ProgressReading {
  Json values;  // object: stat key -> number
  plan::Time at;
};

/// Reads the body of the agent's /progress. INVALID_ARGUMENT when it has another form.
Result<ProgressReading> ParseProgress(std::string_view body, plan::Time at);

/// Reads the agent's termination message; nothing when it carries no values.
std::optional<ProgressReading> ReadingFromTermination(std::string_view message, plan::Time at);

/// status.training of a reading. The rate is that since `before`; without one, or when the chief
/// has started anew since, it stays `former`'s.
TrainingStatus MakeTrainingStatus(const ProgressReading& reading, const ProgressReading* before,
                                  const TrainingStatus& former);

}  // namespace pstrain::reconcile
