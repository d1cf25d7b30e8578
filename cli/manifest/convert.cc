#include <cstdio>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "base/text/yaml_writer.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/manifest/tf_job.h"
#include "proto/contract/exit_codes.h"
#include "proto/job/job_manifest_yaml.h"

namespace pstrain {
namespace {

constexpr const char* kUsage =
    "usage: pstrain convert TFJOB.yaml\n"
    "\n"
    "Writes the PSTrainingJob that does what a TFJob of Kubeflow (kubeflow.org/v1) does. What is\n"
    "not the same is on standard error, one line per field: dropped, changed, to do, or refused.\n"
    "Of a job with a refused field nothing is written.\n"
    "example: pstrain convert tfjob.yaml > job.yaml && pstrain validate job.yaml\n"
    "exit code: 0 written, 1 refused or unreadable, 2 wrong usage\n";

int Convert(const std::string& path) {
  const Result<std::string> text = ReadFile(path);
  if (!text.ok()) {
    std::fprintf(stderr, "%s\n", text.status().message().c_str());
    return kExitFailure;
  }
  const YamlReading reading = ReadYaml(*text);
  for (const ManifestError& error : reading.errors) {
    std::fprintf(stderr, "%s\n", error.Format(path).c_str());
  }
  if (!reading.errors.empty()) return kExitFailure;
  const ConvertedTfJob converted = ConvertTfJob(reading.tree);
  for (const ConversionNote& note : converted.notes) {
    std::fprintf(stderr, "%s\n", note.Format(path).c_str());
  }
  if (!converted.ok()) return kExitFailure;
  std::fputs(WriteYaml(converted.manifest).c_str(), stdout);
  return kExitSuccess;
}

}  // namespace

int ConvertCommand(const std::vector<std::string>& args) {
  bool help = false;
  ArgumentParser parser;
  parser.AddFlag("--help", help);
  parser.AddFlag("-h", help);
  const auto files = parser.Parse(args);
  if (files.ok() && help) {
    std::fputs(kUsage, stdout);
    return kExitSuccess;
  }
  if (!files.ok() || files->size() != 1) {
    const std::string why = files.ok() ? "one file is needed" : files.status().message();
    std::fprintf(stderr, "pstrain convert: %s\n%s", why.c_str(), kUsage);
    return kExitUsage;
  }
  return Convert(files->front());
}

}  // namespace pstrain
