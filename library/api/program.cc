#include <pstrain/program.h>

#include <iostream>

#include "library/call_guarded.h"
#include "proto/contract/exit_codes.h"

namespace pstrain {

int Program(const std::function<Result<int>()>& coordinate) {
  const Result<int> outcome = program::CallGuarded("the program", coordinate);
  if (outcome.ok()) return *outcome;
  std::cerr << "error: " << outcome.status().ToString() << '\n';
  return kExitFailure;
}

}  // namespace pstrain
