#include <pstrain/program.h>

#include <exception>
#include <iostream>

#include "proto/contract/exit_codes.h"

namespace pstrain {
namespace {

Result<int> Call(const std::function<Result<int>()>& coordinate) {
  try {
    return coordinate();
  } catch (const std::exception& error) {
    return InternalError(std::string("the program has thrown: ") + error.what());
  } catch (...) {
    return InternalError("the program has thrown something that is no std::exception");
  }
}

}  // namespace

int Program(const std::function<Result<int>()>& coordinate) {
  const Result<int> outcome = Call(coordinate);
  if (outcome.ok()) return *outcome;
  std::cerr << "error: " << outcome.status().ToString() << '\n';
  return kExitFailure;
}

}  // namespace pstrain
