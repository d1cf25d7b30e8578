#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/os/files.h"
#include "cli/commands.h"
#include "cli/init/init_job.h"
#include "cli/init/init_options.h"
#include "cli/init/table_profile.h"
#include "local/preflight/file_sample.h"
#include "local/preflight/preflight.h"
#include "proto/contract/exit_codes.h"
#include "proto/job/job_manifest.h"

namespace pstrain {
namespace {

int Refuse(const Status& status) {
  std::fprintf(stderr, "pstrain init: %s\n", status.message().c_str());
  return kExitUsage;
}

/// Nothing is written over that is there already.
Status CheckOutput(const InitOptions& options) {
  if (options.output == "-") return OkStatus();
  if (IsDirectory(options.output)) {
    return InvalidArgumentError("--output " + options.output + ": is a folder; name a file in it");
  }
  if (!options.force && FileExists(options.output)) {
    return InvalidArgumentError(options.output +
                                ": is there already; name another --output, or give --force to "
                                "replace it");
  }
  const std::string folder = ParentPath(options.output);
  if (IsDirectory(folder)) return OkStatus();
  return InvalidArgumentError("--output " + options.output + ": there is no folder " + folder);
}

/// What `pstrain run` would find in the data: above all in the held-out file.
Status CheckMade(const InitJob& made) {
  PSTRAIN_ASSIGN_OR_RETURN(const PSTrainingJob job, ReadJobManifest(made.manifest));
  const std::vector<std::string> findings = CheckData(job.spec());
  return findings.empty() ? OkStatus() : InvalidArgumentError(findings.front());
}

Result<InitJob> Make(const InitOptions& options) {
  PSTRAIN_RETURN_IF_ERROR(CheckOutput(options));
  PSTRAIN_ASSIGN_OR_RETURN(const preflight::FileSample sample,
                           preflight::SampleFile(options.file, Input::Auto, kInitSampleBytes));
  PSTRAIN_ASSIGN_OR_RETURN(const FileInfo info, GetFileInfo(options.file));
  PSTRAIN_ASSIGN_OR_RETURN(InitJob made, MakeInitJob(sample, info.size_bytes, options));
  PSTRAIN_RETURN_IF_ERROR(CheckMade(made));
  return made;
}

int Init(const InitOptions& options) {
  const Result<InitJob> made = Make(options);
  if (!made.ok()) return Refuse(made.status());
  if (options.output == "-") {
    std::fputs(made->manifest.c_str(), stdout);
    return kExitSuccess;
  }
  const Status written = options.force ? WriteFileAtomically(options.output, made->manifest)
                                       : CreateExclusive(options.output, made->manifest);
  if (!written.ok()) {
    std::fprintf(stderr, "pstrain init: %s\n", written.message().c_str());
    return kExitFailure;
  }
  std::printf("%s: written (%s)\nnext: pstrain run %s\n", options.output.c_str(),
              made->summary.c_str(), options.output.c_str());
  return kExitSuccess;
}

}  // namespace

int InitCommand(const std::vector<std::string>& args) {
  const Result<InitOptions> options = ParseInitOptions(args);
  if (!options.ok()) {
    return Refuse(InvalidArgumentError(options.status().message() + " (see pstrain init --help)"));
  }
  if (options->help) {
    std::fputs(kInitUsage, stdout);
    return kExitSuccess;
  }
  return Init(*options);
}

}  // namespace pstrain
