#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::plan {

/// A metav1.Condition as one wants it. The functions here touch nothing but the status that they
/// are given: any thread that may touch that.
struct ConditionValue {
  std::string_view type;
  bool value = false;
  std::string_view reason;
  std::string_view message;
  std::int64_t generation = 0;
};

/// nullptr when the status has none of that type.
const Condition* FindCondition(const JobStatus& status, std::string_view type);

/// Adds or changes it; lastTransitionTime moves only with the value. Messages are cut at 1 KiB.
void PutCondition(const ConditionValue& condition, plan::Time now, JobStatus& status);

}  // namespace pstrain::plan
