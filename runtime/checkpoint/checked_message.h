#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace pstrain {

/// A message in a file of its own, so that damage is seen: 8 bytes that say what it is, u32 CRC-32C
/// of the rest, u32 0, the serialised message. Pure; any thread.

/// REQUIRES: `magic` has 8 bytes.
std::string CheckedMessage(std::string_view magic, std::string_view message);

/// The message in `bytes`, of which it is a view. DATA_LOSS: damaged, or not `what`.
Result<std::string_view> OpenCheckedMessage(std::string_view magic, std::string_view bytes,
                                            const char* what);

}  // namespace pstrain
