#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "operator/plan/snapshot.h"

namespace pstrain::job {

/// The names that the operator gives to what it makes for a job: the same for the same job, so that
/// an operator that starts again finds them. Pure; any thread.

/// "<job>-<role>-<index>" for attempt 0, "...-<attempt>" after.
std::string PodName(std::string_view job, const plan::ReplicaId& id, std::int32_t attempt);

/// "<job>-<hash of content>"; the hash has 13 characters of [0-9a-v].
std::string HashedName(std::string_view job, std::string_view content);

/// Selects the workers of a job: status.selector of the scale subresource.
std::string WorkerSelector(std::string_view job);

}  // namespace pstrain::job
