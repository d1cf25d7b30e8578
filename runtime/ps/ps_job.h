#pragma once

#include <cstdint>

namespace pstrain {

/// What a ps is told of its job beside RoleContext, whatever the job trains. Made from
/// spec.training by runtime/model/training/training_jobs.h. A value. It does not change: any thread
/// may read it.
struct PsJob {
  /// The largest push or control call of a worker or chief of this job.
  std::uint64_t message_bytes = 0;
};

}  // namespace pstrain
