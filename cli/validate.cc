#include <cstdio>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "proto/contract/exit_codes.h"
#include "proto/job/job_manifest.h"

namespace pstrain {
namespace {

constexpr const char* kUsage =
    "usage: pstrain validate [--allow-test-only] FILE...\n"
    "\n"
    "Checks manifests of PSTrainingJobs; one line per error, with file, line and field.\n"
    "  --allow-test-only  admit fields that only pstrain's own tests use\n"
    "exit code: 0 all are good, 1 one is not, 2 wrong usage\n";

/// Prints what is wrong with one file; true when nothing is.
bool ValidateFile(const std::string& path, ReadOptions options) {
  const auto text = ReadFile(path);
  if (!text.ok()) {
    std::fprintf(stderr, "%s\n", text.status().message().c_str());
    return false;
  }
  options.file_name = path;
  const ManifestReading reading = ReadJobManifestAll(*text, options);
  for (const ManifestError& error : reading.errors) {
    std::fprintf(stderr, "%s\n", error.Format(path).c_str());
  }
  return reading.ok();
}

}  // namespace

int ValidateCommand(const std::vector<std::string>& args) {
  ReadOptions options;
  bool help = false;
  ArgumentParser parser;
  parser.AddFlag("--allow-test-only", options.allow_test_only);
  parser.AddFlag("--help", help);
  parser.AddFlag("-h", help);
  const auto files = parser.Parse(args);
  if (files.ok() && help) {
    std::fputs(kUsage, stdout);
    return kExitSuccess;
  }
  if (!files.ok() || files->empty()) {
    const std::string why = files.ok() ? "no file is given" : files.status().message();
    std::fprintf(stderr, "pstrain validate: %s\n%s", why.c_str(), kUsage);
    return kExitUsage;
  }
  int exit_code = kExitSuccess;
  for (const std::string& path : *files) {
    if (!ValidateFile(path, options)) exit_code = kExitFailure;
  }
  return exit_code;
}

}  // namespace pstrain
