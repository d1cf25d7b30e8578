#pragma once

#include <cstdint>

#include "tests/runtime/simulation/scheduler.h"

namespace pstrain::simulation {

/// What the wall clock of every simulated process shows at that time: Unix seconds. Any thread.
std::int64_t WallSeconds(Time now);

}  // namespace pstrain::simulation
