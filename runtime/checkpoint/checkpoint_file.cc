#include "runtime/checkpoint/checkpoint_file.h"

#include <algorithm>
#include <vector>

#include "base/os/files.h"

namespace pstrain {
namespace {

/// Its directory can be listed and does not have the name.
Result<bool> MissingIn(const std::string& directory, const std::string& path) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(directory));
  return !std::ranges::binary_search(names, BaseName(path));
}

/// OK when the file is proven missing, else why not.
Status ProveMissing(const std::string& path) {
  const std::string folder = ParentPath(path);
  Result<bool> missing = MissingIn(folder, path);
  if (missing.status().code() == StatusCode::kNotFound) {
    missing = MissingIn(ParentPath(folder), folder);
  }
  if (missing.ok() && *missing) return OkStatus();
  return UnavailableError(
      "open " + path + ": no such file, but " +
      (missing.ok() ? "its directory has that name" : missing.status().message()));
}

}  // namespace

Result<std::string> ReadCheckpointFile(const std::string& path) {
  Result<std::string> bytes = ReadFile(path);
  if (bytes.status().code() == StatusCode::kNotFound) {
    PSTRAIN_RETURN_IF_ERROR(ProveMissing(path));
  }
  // A folder in place of the file, or a file in place of its folder: not the bytes that were
  // written, but nothing that is known of them.
  if (bytes.status().code() == StatusCode::kFailedPrecondition) {
    return UnavailableError(bytes.status().message());
  }
  return bytes;
}

Result<bool> CheckpointFileExists(const std::string& path) {
  const Status status = GetFileInfo(path).status();
  if (status.ok()) return true;
  if (status.code() == StatusCode::kFailedPrecondition) {
    const Result<FileInfo> folder = GetFileInfo(ParentPath(path));
    // A file where a folder should be: somebody else's.
    if (folder.ok() && !folder->is_directory) return false;
    return UnavailableError(status.message());
  }
  if (status.code() != StatusCode::kNotFound) return status;
  PSTRAIN_RETURN_IF_ERROR(ProveMissing(path));
  return false;
}

bool IsProvenDamage(const Status& status) {
  return status.code() == StatusCode::kDataLoss || status.code() == StatusCode::kNotFound ||
         status.code() == StatusCode::kFailedPrecondition;
}

}  // namespace pstrain
