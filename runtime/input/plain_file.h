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
/// DATA_LOSS: corrupt or cut short. What the disk refuses in a read says nothing of the content: as
/// ErrnoError, UNAVAILABLE for EIO and ESTALE. All messages begin with the path.
Result<std::filesystem::path> PlainFileOf(const std::string& path, Input::Compression compression,
                                          const std::filesystem::path& scratch);

/// Of a stream that has gone bad in a read before which errno was 0: what the disk has answered
/// (UNAVAILABLE for EIO and ESTALE: nothing is known of the file then), or DATA_LOSS where that is
/// not known. `what`: the file, and where in it.
Status StreamError(const std::string& what);

}  // namespace pstrain
