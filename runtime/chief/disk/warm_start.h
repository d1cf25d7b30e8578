#pragma once

#include <string>

#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "proto/job/psjob.pb.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/checkpoint/chief_term.h"

namespace pstrain {

/// With which values a run begins: those of another run (spec.training.restore.run). A value.
struct WarmStart {
  /// The folder of that run.
  std::string directory;
  /// As FindNamedCheckpoint.
  std::string checkpoint;
};

/// Makes the first checkpoint of a run, <chief term>-0, of a checkpoint of another run, for a chief
/// that finds no other: with its values, with the slots of its optimizer where the job has one of
/// the same slots and fresh ones else, and with nothing applied. Reads and writes one shard after
/// the other; whatever was left of an earlier try is removed first. FAILED_PRECONDITION: the
/// variables, their partitions or the shards are not the run's; it names the first that differs.
/// NOT_FOUND, DATA_LOSS, INVALID_ARGUMENT as FindNamedCheckpoint; else errors of the disk. One
/// thread; as long as the disk takes.
Result<GoodCheckpoint> BeginWith(const WarmStart& from, const RunDescription& run,
                                 const ChiefTerm& term, const JobSpec& job);

}  // namespace pstrain
