#pragma once

#include <string>

#include "proto/contract/checkpoint.pb.h"

namespace pstrain {

/// How two declarations of one name differ, for a message: "its shape is [3, 2], and was [3]".
/// Empty: they do not, whatever was decided since (id, partitions, generation). Pure; any thread.
std::string VariableDifference(const VariableSpec& declared, const VariableSpec& again);

}  // namespace pstrain
