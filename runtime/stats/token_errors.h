#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace pstrain {

/// What a caller is told whose token is refused for a reason that passes: the answer is
/// UNAVAILABLE, so that the caller comes again with the token that it has then, for as long as it
/// is patient with a peer that is away. A forged or stolen token gets the same answers, so they
/// count as refusals (refusals.h), which other errors of this code do not. The verifier of tokens
/// and the count of refusals share this and nothing else. Pure; any thread.

/// In a cluster keys change, and a token of the next key may come before that key does.
inline constexpr std::string_view kUnknownKey = "the key of the token is not known here";
/// The token has expired, or is not good yet by the clock here. The kubelet could not replace it,
/// or clocks differ.
inline constexpr std::string_view kWrongTime = "the token is not good at this time";

/// `fault`: one of the two above; `why`: which key, or too late or too early.
inline Status PassingTokenError(std::string_view fault, std::string_view why) {
  return UnavailableError(std::string(fault) + ": " + std::string(why));
}

/// Whether an error, with or without a context, is that of PassingTokenError for `fault`.
inline bool IsPassingTokenError(std::string_view fault, const Status& error) {
  return error.code() == StatusCode::kUnavailable &&
         error.message().find(fault) != std::string::npos;
}

}  // namespace pstrain
