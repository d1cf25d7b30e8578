#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "library/worker/closure_runner.h"

namespace pstrain {

/// The bytes of what an attempt of an atomic function has come to (prepared.proto): what it changes
/// and returns, so that another worker can push that without running it. Equal outcomes have equal
/// bytes. Pure; any thread.

/// Never empty. REQUIRES: outcome.status.ok(), and each update of rows names one of its requests.
std::string EncodePrepared(const ClosureOutcome& outcome);
/// Of foreign bytes. INVALID_ARGUMENT when they are no message, or name a dtype or op that there is
/// not, rows that do not ascend, or values that are no whole elements. Whether the variables are
/// there and have such values PsClient knows.
Result<ClosureOutcome> DecodePrepared(std::string_view bytes);

}  // namespace pstrain
