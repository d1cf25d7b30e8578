#pragma once

#include <memory>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/chief/chief_job.h"
#include "runtime/input/input_index.h"

namespace pstrain {

/// The input of spec.training as work of a chief. Free functions; any thread.

/// The index of the run: built and stored by the first chief, loaded and compared by the others.
/// FAILED_PRECONDITION when the input, the batch or block size or the seed has changed.
Result<std::shared_ptr<const InputIndex>> OpenIndex(const Training& training,
                                                    const ChiefJob::Place& place);

/// The batches of that index, spec.training.epochs times; without variables.
ChiefJob::Work WorkOf(const Training& training, const std::shared_ptr<const InputIndex>& index);

}  // namespace pstrain
