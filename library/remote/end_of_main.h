#pragma once

#include <optional>
#include <string>

#include "base/status.h"

namespace pstrain {

/// How the chief beside a `main` has ended. A value.
struct ChiefEnd {
  /// What RunChief has returned.
  Result<int> returned;
  /// False: the run was finished already when it looked.
  bool served = false;
  /// `main` has given the run up before it was finished.
  bool given_up = false;
};

/// With which code a process ends, and what it says on standard error before; empty: nothing.
struct ExitOfMain {
  int code = 0;
  std::string says = {};
};

/// The exit of a program whose `main` has returned this. The chief's word counts where it has
/// drained (85), was superseded (86) or cannot succeed (87), and `main` has only seen its calls
/// fail by that, and where it was superseded whatever `main` says; docs/reference/exit-codes.md.
/// `chief`: nothing where the process had none. Pure; any thread.
ExitOfMain DecideExit(const Result<int>& main, const std::optional<ChiefEnd>& chief);

}  // namespace pstrain
