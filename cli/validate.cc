#include <cstdio>
#include <string>
#include <vector>

#include "base/files.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "proto/job_manifest.h"

namespace pstrain {
namespace {

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
  ArgumentParser parser;
  parser.AddFlag("--allow-test-only", options.allow_test_only);
  const auto files = parser.Parse(args);
  if (!files.ok() || files->empty()) {
    if (!files.ok()) std::fprintf(stderr, "pstrain: %s\n", files.status().message().c_str());
    std::fprintf(stderr, "usage: pstrain validate [--allow-test-only] FILE...\n");
    return 2;
  }
  int exit_code = 0;
  for (const std::string& path : *files) {
    if (!ValidateFile(path, options)) exit_code = 1;
  }
  return exit_code;
}

}  // namespace pstrain
