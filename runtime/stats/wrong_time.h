#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace pstrain {

/// What a caller is told whose token is right in all but the time: it has expired, or is not good
/// yet by the clock here. The kubelet could not replace the token, or clocks differ; both pass. So
/// the answer is UNAVAILABLE, and the caller comes again with the token that it has then, for as
/// long as it is patient with a peer that is away. An old token that was stolen gets the same
/// answer, so it counts as a refusal (refusals.h), which other errors of this code do not. It is
/// here because the verifier of tokens and the count of refusals share it and nothing else. Pure;
/// any thread.
inline constexpr std::string_view kWrongTime = "the token is not good at this time";

/// `why`: too late or too early.
inline Status WrongTimeError(std::string_view why) {
  return UnavailableError(std::string(kWrongTime) + ": " + std::string(why));
}

/// Whether an error, with or without a context, is one of WrongTimeError.
inline bool IsWrongTime(const Status& error) {
  return error.code() == StatusCode::kUnavailable &&
         error.message().find(kWrongTime) != std::string::npos;
}

}  // namespace pstrain
