#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "operator/plan/snapshot.h"

namespace pstrain::plan {

/// The times of a status as text. Pure; any thread.

/// RFC 3339 in UTC with whole seconds, as Kubernetes writes metav1.Time: 2026-01-02T03:04:05Z.
std::string FormatTimestamp(Time time);
/// The inverse; nothing when the text is not of that form.
std::optional<Time> ParseTimestamp(std::string_view text);

}  // namespace pstrain::plan
