#include "runtime/ps/stream_admission.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/wire/data_op.h"

namespace pstrain {

StreamAdmission AdmitStreams(CallerVerifier* verifier) {
  if (verifier == nullptr) return nullptr;
  return [verifier](std::string_view authorization) -> Result<OpCheck> {
    PSTRAIN_ASSIGN_OR_RETURN(const Caller caller, VerifyBearer(*verifier, authorization));
    if (caller.role != Role::kWorker && caller.role != Role::kPs) {
      return PermissionDeniedError("only workers and ps use the data plane");
    }
    return OpCheck([verifier, caller](std::uint16_t op) {
      const bool fetches = op == static_cast<std::uint16_t>(DataOp::kFetch);
      if (fetches != (caller.role == Role::kPs)) {
        return PermissionDeniedError("a " + std::string(RoleName(caller.role)) +
                                     " may not send data op " + std::to_string(op));
      }
      return verifier->CheckStillGood(caller);
    });
  };
}

}  // namespace pstrain
