#pragma once

#include "base/text/json.h"
#include "proto/contract/run/evaluations.pb.h"

namespace pstrain {

/// Puts what the evaluations of a run have found into its result.json: `history`, `best` and
/// `early_stopped` (run_files.h), each where there is one. Pure; any thread.
void AddScores(const RunEvaluations& evaluations, Json& result);

}  // namespace pstrain
