#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// Told of a record that is left out: file, place and reason. The reader's thread.
using BadRecordListener = std::function<void(const std::string& what)>;

/// INVALID_ARGUMENT names the limits when `passes` passes over an input of `records` records have
/// left out `skipped` bad ones, and policy Skip admits fewer. Each pass leaves out the same ones,
/// so a pass that is not over counts as a whole one. Pure; any thread.
Status CheckBadRecords(const Input& input, std::uint64_t records, std::uint64_t passes,
                       std::uint64_t skipped);

}  // namespace pstrain
