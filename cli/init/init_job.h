#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "cli/init/init_options.h"
#include "local/preflight/file_sample.h"

namespace pstrain {

/// A manifest, and what to tell a person about it.
struct InitJob {
  std::string manifest;
  std::string summary;
};

/// The manifest for a file that begins with `sample` and has `file_bytes` bytes on the disk; it
/// passes ReadJobManifest. INVALID_ARGUMENT: no job can be made of it; one sentence with the way
/// out. Pure; any thread.
Result<InitJob> MakeInitJob(const preflight::FileSample& sample, std::uint64_t file_bytes,
                            const InitOptions& options);

}  // namespace pstrain
