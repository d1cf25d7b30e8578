#include "library/local/scratch_directory.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/os/files.h"

namespace pstrain {

Result<ScratchDirectory> ScratchDirectory::Create() {
  const char* parent = std::getenv("TMPDIR");
  std::string path =
      JoinPath(parent != nullptr && *parent != '\0' ? parent : "/tmp", "pstrain-XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) {
    return ErrnoError(errno, "make a directory " + path + " (TMPDIR says where)");
  }
  return ScratchDirectory(std::move(path));
}

ScratchDirectory::~ScratchDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace pstrain
