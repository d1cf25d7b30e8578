#include <pstrain/remote_value.h>

#include <string>

#include "library/coordinator/closure_state.h"
#include "library/payload.h"
#include "library/run.h"

namespace pstrain {

Result<Values> RemoteValue::Fetch(Deadline deadline) const {
  PSTRAIN_ASSIGN_OR_RETURN(const std::string bytes, state_->Wait(program::EndOf(deadline)));
  PSTRAIN_ASSIGN_OR_RETURN(program::CallResult result, program::DecodeResult(bytes));
  return std::move(result.values);
}

}  // namespace pstrain
