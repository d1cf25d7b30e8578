#pragma once

#include <cstdint>

#include "base/status.h"
#include "library/worker/run_closures.h"
#include "proto/job/psjob.pb.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/chief/chief_job.h"

namespace pstrain::simulation {

/// A program's work in place of the batches of the input: closures in phases of kPhase, as many as
/// Nature::closures says, on the variables of the constant gradient model. Each reads both
/// variables, sees whether all of the phases before its own is in them, and pushes gradients of
/// ones. So what they end with follows from their number. Of each process of a simulation; the
/// functions are pure.
inline constexpr std::uint64_t kPhase = 16;

/// Every chief schedules the same, as a program does that is started again.
ChiefJob ClosuresOfChief(const PSTrainingJob& job);
ClosureJob ClosuresOfWorker();
/// INTERNAL when the checkpoint does not have what each closure changes once, or when nobody was
/// told of the end of one.
Status CheckWeightsOfClosures(CheckpointReader& checkpoint);

}  // namespace pstrain::simulation
