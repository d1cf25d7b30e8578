#include "library/local/scratch_directory.h"

#include <filesystem>
#include <system_error>

#include "base/os/temporary_directory.h"

namespace pstrain {

Result<ScratchDirectory> ScratchDirectory::Create() {
  PSTRAIN_ASSIGN_OR_RETURN(std::string path, MakeTemporaryDirectory());
  return ScratchDirectory(std::move(path));
}

ScratchDirectory::~ScratchDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace pstrain
