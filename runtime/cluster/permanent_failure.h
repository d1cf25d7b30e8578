#pragma once

#include "base/status.h"
#include "proto/contract/exit_codes.h"
#include "proto/contract/stated_failure.h"
#include "runtime/cluster/role_context.h"

namespace pstrain {

/// Whether nobody can use what was read of an input as it is: absent, not readable by this user, or
/// of another form than the job says. Not what may pass by itself. Pure; any thread.
inline bool IsInvalidInput(const Status& status) {
  return status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kNotFound ||
         status.code() == StatusCode::kPermissionDenied;
}

/// The end of a role that no attempt could avoid: says why, and returns kExitPermanent. `status`:
/// not OK. The role's main thread.
inline int EndForGood(const RoleContext& context, const Status& status,
                      std::string_view reason = kFailedForGoodReason) {
  if (context.state_failure) context.state_failure(reason, status);
  return kExitPermanent;
}

/// The same of what nobody can use as it is.
inline int EndForInvalidInput(const RoleContext& context, const Status& status) {
  return EndForGood(context, status, kInvalidInputReason);
}

/// EndForInvalidInput where IsInvalidInput, or where what is read is damaged or has changed since
/// the run began (DATA_LOSS): each attempt would find it so until a person puts the file back. Else
/// the error, which another attempt may not meet.
inline Result<int> EndOfInput(const RoleContext& context, const Status& status) {
  const bool changed = status.code() == StatusCode::kDataLoss;
  if (changed || IsInvalidInput(status)) return EndForInvalidInput(context, status);
  return status;
}

}  // namespace pstrain
