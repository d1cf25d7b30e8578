#pragma once

#include <pstrain/function.h>
#include <pstrain/values.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace pstrain::program {

/// A call of a function, as a grant's payload carries it. A value.
struct Call {
  std::string function;
  /// Function::Signature of whoever calls.
  std::string signature;
  std::vector<Argument> arguments;
  friend bool operator==(const Call&, const Call&) = default;
};

/// The bytes of calls and of what they return: messages of payload.proto. Equal
/// calls have equal bytes. Pure; any thread. Decoding is of foreign bytes: INVALID_ARGUMENT when
/// they are no message, or name a dtype that there is not, or a shape that does not fit the
/// elements.
std::string EncodeCall(const Call& call);
Result<Call> DecodeCall(std::string_view bytes);
std::string EncodeValues(const Values& values);
Result<Values> DecodeValues(std::string_view bytes);

}  // namespace pstrain::program
