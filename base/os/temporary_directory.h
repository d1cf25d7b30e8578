#pragma once

#include <string>

#include "base/status.h"

namespace pstrain {

/// Makes a fresh directory below $TMPDIR, or /tmp where that is not set, which is for the caller to
/// remove. Returns its path; the error of the file system names it. Any thread, while none changes
/// the environment.
Result<std::string> MakeTemporaryDirectory();

}  // namespace pstrain
