#pragma once

#include "base/text/json.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// The headless Service that gives every pod of a job its DNS name: `<job>`, with
/// publishNotReadyAddresses, because replicas look for each other before they are ready. Pure; any
/// thread.
Json BuildService(const PSTrainingJob& job);

}  // namespace pstrain::job
