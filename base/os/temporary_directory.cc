#include "base/os/temporary_directory.h"

#include <cerrno>
#include <cstdlib>

#include "base/os/files.h"

namespace pstrain {

Result<std::string> MakeTemporaryDirectory() {
  const char* parent = std::getenv("TMPDIR");
  std::string path =
      JoinPath(parent != nullptr && *parent != '\0' ? parent : "/tmp", "pstrain-XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) {
    return ErrnoError(errno, "make a directory " + path + " (TMPDIR says where)");
  }
  return path;
}

}  // namespace pstrain
