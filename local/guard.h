#pragma once

#include <functional>

namespace pstrain::local {

/// The signal by which the kernel tells a guarded body that its guard was killed.
int GuardLostSignal();

/// Runs `body` in a child process and returns its exit code there, and here the same code (128 +
/// signal when a signal ended it) once nothing that it started is left. So no process outlives a
/// run, whichever of the two is SIGKILLed: this one, the guard, is the reaper of all that the body
/// starts and kills it when the body has ended; the body is told by GuardLostSignal when the guard
/// was killed, and must then kill what it started (it is the reaper too). SIGINT, SIGTERM and
/// SIGHUP are passed on to the body. Call it from the main thread while there is no other.
int RunGuarded(const std::function<int()>& body);

}  // namespace pstrain::local
