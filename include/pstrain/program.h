#pragma once

#include <pstrain/status.h>

#include <functional>

namespace pstrain {

/// Runs what a program does and turns its outcome into the exit code of `main`: the number that it
/// returns, or 1, with the error on standard error, when it fails or throws.
///
///   int main() { return Program(Coordinate); }
///
/// One thread, `main`'s.
int Program(const std::function<Result<int>()>& coordinate);

}  // namespace pstrain
