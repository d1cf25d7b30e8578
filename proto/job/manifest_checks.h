#pragma once

#include <string_view>
#include <vector>

#include "base/text/json.h"
#include "proto/job/job_manifest.h"

namespace pstrain {

/// Checks that reach over several messages: those that CEL cannot afford or express, and those
/// whose rule in psjob.proto cannot name the very place. `tree` gives the lines.
struct ManifestCheck {
  /// Stable name, as the rules of psjob.proto have one.
  std::string_view id;
  void (*run)(const PSTrainingJob& job, const Json& tree, std::vector<ManifestError>& errors);
};

/// Every check. REQUIRES of each: the job was decoded without an error. The list never changes, and
/// the checks are pure: any thread.
const std::vector<ManifestCheck>& ManifestChecks();

}  // namespace pstrain
