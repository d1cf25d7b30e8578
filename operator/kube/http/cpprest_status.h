#pragma once

#include <exception>

#include "base/status.h"

namespace pstrain::kube {

/// What an exception of cpprestsdk means: DEADLINE_EXCEEDED, CANCELLED or, for all others,
/// UNAVAILABLE. Pure; any thread.
Status CpprestStatus(const std::exception_ptr& thrown);

}  // namespace pstrain::kube
