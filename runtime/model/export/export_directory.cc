#include "runtime/model/export/export_directory.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/os/files.h"

namespace pstrain {

Result<ExportDirectory> ExportDirectory::Create(std::string output) {
  while (output.size() > 1 && output.back() == '/') output.pop_back();
  if (FileExists(output)) {
    return AlreadyExistsError(output + " exists already; name a folder that does not");
  }
  PSTRAIN_RETURN_IF_ERROR(CreateDirectories(ParentPath(output)));
  std::string part = output + ".part";
  if (mkdir(part.c_str(), 0777) != 0) {
    if (errno != EEXIST) return ErrnoError(errno, "create " + part);
    return AlreadyExistsError(part +
                              " exists: another export is writing it, or was killed; remove it "
                              "when nobody does");
  }
  return ExportDirectory(std::move(output), std::move(part));
}

ExportDirectory::~ExportDirectory() {
  if (!part_.empty()) static_cast<void>(RemoveAll(part_));
}

std::string ExportDirectory::File(std::string_view name) const { return JoinPath(part_, name); }

Status ExportDirectory::CheckRoom(std::uint64_t bytes) const {
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(part_, error);
  // What cannot be asked is found out by writing.
  if (error || space.available >= bytes) return OkStatus();
  return ResourceExhaustedError("the model has " + std::to_string(bytes) +
                                " bytes, and the file system of " + output_ + " has room for " +
                                std::to_string(space.available) + "; name a folder elsewhere");
}

Status ExportDirectory::Finish() {
  PSTRAIN_RETURN_IF_ERROR(FsyncDirectory(part_));
  PSTRAIN_RETURN_IF_ERROR(RenameFile(part_, output_));
  part_.clear();
  return OkStatus();
}

}  // namespace pstrain
