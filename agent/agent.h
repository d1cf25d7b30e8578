#pragma once

#include <string>

#include "agent/options.h"

namespace pstrain {

/// Everything between the command line and the exit code: makes the stats page, serves it, runs
/// the training program, writes the last reading and the termination message. Call it once, from
/// the main thread, before any other thread is started. Exit codes: the program's own (85 for an
/// exit 0 that is only a drain), 128 + signal, 126 or 127 when it cannot be started, 1 when the
/// agent cannot do its own work (then the program was not started).
int RunAgent(const AgentOptions& options);

/// Path of pstrain-runtime in the folder of this executable.
std::string RuntimeBesideThis();

}  // namespace pstrain
