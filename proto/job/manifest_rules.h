#pragma once

#include <map>
#include <string_view>

#include "proto/job/psjob.pb.h"

namespace pstrain {

/// Whether a message, with defaults filled in, obeys a rule. REQUIRES: the message is of the type
/// that carries the rule in psjob.proto.
using RulePredicate = bool (*)(const google::protobuf::Message& message);

/// The C++ side of every Rule in psjob.proto, by id. It never changes, and the predicates are pure:
/// any thread.
const std::map<std::string_view, RulePredicate>& RulePredicates();

}  // namespace pstrain
