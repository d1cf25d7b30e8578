#pragma once

#include <pstrain/function.h>
#include <pstrain/values.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "library/coordinator/metric_table.h"

namespace pstrain::program {

/// A call of a function, as a grant's payload carries it. A value.
struct Call {
  std::string function;
  /// Function::Signature of whoever calls.
  std::string signature;
  std::vector<Argument> arguments;
  friend bool operator==(const Call&, const Call&) = default;
};

/// What a call has come to: what its function returns, and has added to metrics. A value.
struct CallResult {
  Values values;
  std::vector<MetricSum> metrics = {};
  friend bool operator==(const CallResult&, const CallResult&) = default;
};

/// The bytes of calls and of what they come to: messages of payload.proto. Equal calls have equal
/// bytes. Pure; any thread. An iterator has to be one of a call (BoundTo), and comes back without a
/// source, as a resource does. Decoding is of foreign bytes: INVALID_ARGUMENT when they are no
/// message, or name a dtype that there is not, a shape that does not fit the elements, elements or
/// sums that cannot be.
std::string EncodeCall(const Call& call);
Result<Call> DecodeCall(std::string_view bytes);
/// Nothing of a result without values and metrics.
std::string EncodeResult(const CallResult& result);
Result<CallResult> DecodeResult(std::string_view bytes);

}  // namespace pstrain::program
