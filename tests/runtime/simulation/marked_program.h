#pragma once

#include <string>

#include "base/status.h"
#include "library/worker/run_closures.h"
#include "proto/job/psjob.pb.h"
#include "runtime/cluster/role_context.h"

namespace pstrain::simulation {

/// A program as a person writes it that saves marks, on what is behind libpstrain's public headers.
/// Its `main` schedules calls in phases, whose number and amounts are chance and what it has
/// fetched: no two lives of a `main` do the same. Some calls assign, in a phase of their own; some
/// fail, which `main` catches, and which voids others. After each phase it compares all variables
/// with what it knows of its history (ProgramHistory), and all that it has fetched so far with what
/// it fetches again. A call compares what it reads with what the phases before its own have left,
/// and with what was there when its `main` began: nothing of a history that is over is in it. Marks
/// are saved now and then; a Save that fails is left, or tried again. The rules of Histories() are
/// told of all that. Of each process of a simulation.

/// The chief's process: that `main`, and the product's chief beside it, which end as
/// library/remote has them end. Returns the exit code, or why it has failed.
Result<int> RunMarkedProgram(const RoleContext& context, const PSTrainingJob& job);
/// Its workers.
ClosureJob WorkerOfMarkedProgram();
/// INTERNAL when the run's final checkpoint is not what the `main` that has closed its history
/// knows: each shard has every call once, left out where Outcomes() says so, and the variables are
/// those, where none of them can be lost.
Status CheckEndOfMarkedProgram(const std::string& run_directory);

}  // namespace pstrain::simulation
