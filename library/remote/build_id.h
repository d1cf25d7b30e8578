#pragma once

#include <string>

namespace pstrain {

/// The build id that the linker has written into this program (NT_GNU_BUILD_ID of the System V ABI
/// notes, ld's --build-id), in hexadecimal digits; empty where it has written none. Two builds of
/// one source have different ones as soon as a byte of them differs. Any thread.
std::string BuildIdOfProgram();

}  // namespace pstrain
