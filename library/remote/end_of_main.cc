#include "library/remote/end_of_main.h"

#include "proto/contract/exit_codes.h"

namespace pstrain {
namespace {

ExitOfMain ByMain(const Result<int>& main) {
  if (main.ok()) return {.code = *main};
  return {.code = kExitFailure, .says = main.status().ToString()};
}

}  // namespace

ExitOfMain DecideExit(const Result<int>& main, const std::optional<ChiefEnd>& chief) {
  if (!chief) return ByMain(main);
  const bool superseded = chief->returned.ok() && *chief->returned == kExitDisrupted;
  // What `main` could not do then is the reason why it has given up.
  if (chief->given_up && !superseded) {
    if (!main.ok() || *main != kExitSuccess) return ByMain(main);
    return {.code = kExitFailure,
            .says =
                "main has ended and its run has not: return what "
                "ClusterCoordinator::Finish returns"};
  }
  if (!chief->returned.ok()) {
    return {.code = kExitFailure,
            .says = (main.ok() ? chief->returned.status() : main.status()).ToString()};
  }
  const int code = *chief->returned;
  if (code != kExitSuccess) {
    return {.code = code, .says = main.ok() ? std::string() : main.status().ToString()};
  }
  // The run was finished before this attempt: `main` was refused its first call, and that is right.
  if (!chief->served) return {.code = kExitSuccess};
  return ByMain(main);
}

}  // namespace pstrain
