#pragma once

#include <string>

#include "base/status.h"
#include "proto/contract/run/evaluations.pb.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/checkpoint/chief_term.h"

namespace pstrain {

/// The file <run>/evaluations: what each evaluation of a run has found, which checkpoint is the
/// best, and whether the run ends early. "PSTSCORE", u32 CRC-32C of the rest, u32 0, a serialised
/// RunEvaluations. Only the chief writes it. The functions keep nothing: any thread. They take as
/// long as the disk takes.

/// The longest history that is kept; longer than any patience (EarlyStopping.patience in
/// psjob.proto), so that a patience can be counted by it.
inline constexpr int kMostEvaluations = 1024;

/// An empty one where there is no file. DATA_LOSS, with the path and the way out: it is damaged, or
/// of another run; FAILED_PRECONDITION: of another format version.
Result<RunEvaluations> ReadEvaluations(const std::string& run_directory);

/// Makes it durable; the version is set here. ABORTED as CheckChiefTerm.
Status WriteEvaluations(const std::string& run_directory, const ChiefTerm& term,
                        RunEvaluations evaluations);

/// The checkpoint of a run that a person means: "best", the one of ReadEvaluations; "latest", the
/// newest good one; or <chief term>-<number>. Empty: the best where the run keeps one, else the
/// latest. Sizes and checksums are good. NOT_FOUND: the run has none, or not that one;
/// INVALID_ARGUMENT names `option`, which is how the person has said it; otherwise as
/// ReadEvaluations, OpenCheckpoint and NewestGoodCheckpoint.
Result<GoodCheckpoint> FindNamedCheckpoint(const std::string& run_directory,
                                           const std::string& name, const std::string& option);

}  // namespace pstrain
