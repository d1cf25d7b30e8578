#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace pstrain {

/// What a caller is told whose token is signed by a key that is not known here. In a cluster keys
/// change, and a token of the next one may come before the key does: the answer is UNAVAILABLE, so
/// that the caller comes again. A forger of tokens gets the same answer, so it counts as a refusal
/// (refusals.h), which other errors of this code do not. It is here because the verifier of tokens
/// and the count of refusals share it and nothing else. Pure; any thread.
inline constexpr std::string_view kUnknownKey = "the key of the token is not known here";

/// `why`: what is missing.
inline Status UnknownKeyError(std::string_view why) {
  return UnavailableError(std::string(kUnknownKey) + ": " + std::string(why));
}

/// Whether an error, with or without a context, is one of UnknownKeyError.
inline bool IsUnknownKey(const Status& error) {
  return error.code() == StatusCode::kUnavailable &&
         error.message().find(kUnknownKey) != std::string::npos;
}

}  // namespace pstrain
