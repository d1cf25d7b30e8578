#pragma once

#include <pstrain/record_files.h>

#include "base/status.h"
#include "library/local/scratch_directory.h"
#include "proto/job/psjob.pb.h"
#include "runtime/input/input_files.h"

namespace pstrain::program {

/// Files as the readers of built-in training open them. Any thread.

Input::Compression CompressionOf(Compression compression);
/// Unpacks what is packed, and looks at the columns. Errors as OpenInputFiles.
Result<InputFiles> OpenInput(const Input& input, const ScratchDirectory& scratch);

}  // namespace pstrain::program
