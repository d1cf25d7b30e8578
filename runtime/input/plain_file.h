#pragma once

#include <filesystem>
#include <string>

#include "base/status.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// The content of an input file without compression: the file itself, or what it unpacks to, in
/// `scratch` (made when absent). Unpacking writes a temporary name and renames, so processes that
/// share the folder do no harm to each other; a file that was unpacked already from the same path,
/// size and modification time is used again. Any thread may call it.
/// NOT_FOUND: no such file; INVALID_ARGUMENT: empty, a folder, or not gzip though `Gzip` was said;
/// DATA_LOSS: corrupt or cut short. All messages begin with the path.
Result<std::filesystem::path> PlainFileOf(const std::string& path, Input::Compression compression,
                                          const std::filesystem::path& scratch);

}  // namespace pstrain
