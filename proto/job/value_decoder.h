#pragma once

#include <string>
#include <vector>

#include "base/text/json.h"
#include "proto/job/job_manifest.h"

namespace pstrain {

/// The part of the manifest's reader that knows single values, by the options in psjob.proto. Each
/// function changes only what it is given; any thread.

/// Sets a field that is not a message from one value, or adds an item when it is repeated. Checks
/// type, range, bounds, length, pattern. Returns what is wrong; empty when the field was set.
std::string DecodeScalar(const Json& value, const google::protobuf::FieldDescriptor& descriptor,
                         google::protobuf::Message& message);

/// What of its bounds a number does not keep; empty when it keeps them.
std::string CheckBounds(double value, const FieldOptions& options);

/// "found \"7\"", "found a list": what stood there instead.
std::string Found(const Json& value);

}  // namespace pstrain
