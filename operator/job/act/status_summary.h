#pragma once

#include <cstdint>
#include <string>

#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// What `kubectl describe` and `kubectl get` say of a job at one look. The functions are pure but
/// for the status that they are given: any thread that may touch that.

/// True while every replica that the job asks for is ready, or has done its part.
inline constexpr char kPodsReady[] = "PodsReady";
/// True while a job that had all its replicas goes on without some of them. Absent until it has all
/// of them, and again from its suspension or end on.
inline constexpr char kDegraded[] = "Degraded";
/// True from the first checkpoint on. Absent where pstrain takes none.
inline constexpr char kCheckpointed[] = "Checkpointed";

/// Writes these conditions by what else is in the status (phase, counts of replicas, restarts,
/// progress), and status.reason by all conditions. `checkpoints`: pstrain's runtime takes some.
void Summarize(bool checkpoints, std::int64_t generation, plan::Time now, JobStatus& status);

/// Writes that the specification cannot be read: the condition Accepted, and status.reason.
void SetInvalidSpec(const std::string& message, std::int64_t generation, plan::Time now,
                    JobStatus& status);

}  // namespace pstrain::job
