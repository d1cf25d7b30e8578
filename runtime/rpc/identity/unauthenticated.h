#pragma once

#include <string>
#include <utility>

#include "base/status.h"

namespace pstrain {

/// Who asks has not shown who they are. Pure; any thread.
inline Status UnauthenticatedError(std::string message) {
  return {StatusCode::kUnauthenticated, std::move(message)};
}

}  // namespace pstrain
