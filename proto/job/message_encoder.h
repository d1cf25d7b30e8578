#pragma once

#include "base/text/json.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// A message as a manifest writes it: names in lowerCamelCase in declaration order, enums by name,
/// map keys sorted, raw_json fields inline. Fields at their zero value are left out unless they
/// have another default or were set explicitly. Pure; any thread.
Json EncodeMessage(const google::protobuf::Message& message);

}  // namespace pstrain
