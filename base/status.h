#pragma once

#include <pstrain/status.h>  // IWYU pragma: export

#include <string_view>

namespace pstrain {

/// The error of a failed system call: `action: strerror(error_number)`, with the code that fits.
/// Any thread.
Status ErrnoError(int error_number, std::string_view action);

}  // namespace pstrain
