#pragma once

#include <optional>

#include "base/text/json.h"

namespace pstrain::job {

/// The JSON merge patch (RFC 7386) that makes `to` out of `from`: members that differ, null for
/// members that are gone; nothing when they are equal. Arrays are replaced whole. The order of
/// members is ignored. A null member of `to` counts as absent. Pure; any thread.
std::optional<Json> MakeMergePatch(const Json& from, const Json& to);

}  // namespace pstrain::job
