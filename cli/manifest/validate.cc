#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/os/files.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/manifest/data_check.h"
#include "cli/run_options.h"
#include "proto/contract/exit_codes.h"
#include "proto/job/job_manifest.h"

namespace pstrain {
namespace {

constexpr const char* kUsage =
    "usage: pstrain validate [options] FILE...\n"
    "\n"
    "Checks manifests of PSTrainingJobs; one line per error, with file, line and field, and one "
    "line\n"
    "for each that is good. A field of a pod template that Kubernetes does not know is a warning.\n"
    "  --data             look at the data too, as pstrain run does before it starts anything: "
    "the\n"
    "                     files, their headers and their first records\n"
    "  --volume NAME=DIR  with --data: the directory to use for the volume NAME; may be repeated\n"
    "  --state-dir DIR    with --data: where the other volumes lie (default .pstrain)\n"
    "  --allow-test-only  admit fields that only pstrain's own tests use\n"
    "example: pstrain validate --data adult.yaml\n"
    "exit code: 0 all are good, 1 one is not, 2 wrong usage\n";

struct ValidateOptions {
  ReadOptions read;
  bool data = false;
  std::vector<std::string> volume_texts;
  std::map<std::string, std::string> volumes;
  std::string state_dir = ".pstrain";
};

/// "24 features, 2 ps, 3 workers, evaluator".
std::string Summary(const JobSpec& spec) {
  const auto count = [](int number, const std::string& noun) {
    return std::to_string(number) + " " + noun + (number == 1 || noun == "ps" ? "" : "s");
  };
  std::string summary = spec.has_training()  ? count(spec.training().features_size(), "feature")
                        : spec.has_program() ? std::string("a program of libpstrain")
                                             : std::string("its own program");
  summary += ", " + count(spec.replica_specs().ps().replicas(), "ps");
  summary += ", " + count(spec.replica_specs().worker().replicas(), "worker");
  return summary + (spec.replica_specs().evaluator().replicas() > 0 ? ", evaluator" : "");
}

/// Prints what is wrong with one file, or that nothing is; true when nothing is.
bool ValidateFile(const std::string& path, ValidateOptions& options) {
  const auto text = ReadFile(path);
  if (!text.ok()) {
    std::fprintf(stderr, "%s\n", text.status().message().c_str());
    return false;
  }
  options.read.file_name = path;
  options.read.warn = true;
  const ManifestReading reading = ReadJobManifestAll(*text, options.read);
  for (const ManifestError& error : reading.errors) {
    std::fprintf(stderr, "%s\n", error.Format(path).c_str());
  }
  if (!reading.ok()) return false;
  for (const ManifestError& warning : reading.warnings) {
    std::fprintf(stderr, "%s\n", warning.Format(path).c_str());
  }
  const DataFindings found =
      options.data ? CheckWrittenData(reading.job, options.volumes, options.state_dir, path + ": ")
                   : DataFindings();
  if (!found.problems.empty()) {
    std::fprintf(stderr, "%s\n", found.problems.c_str());
    return false;
  }
  for (const std::string& line : found.matched) std::printf("%s: %s\n", path.c_str(), line.c_str());
  std::printf("%s: ok (%s)\n", path.c_str(), Summary(reading.job.spec()).c_str());
  return true;
}

}  // namespace

int ValidateCommand(const std::vector<std::string>& args) {
  ValidateOptions options;
  bool help = false;
  ArgumentParser parser;
  parser.AddFlag("--data", options.data);
  parser.AddList("--volume", options.volume_texts);
  parser.AddValue("--state-dir", options.state_dir);
  parser.AddFlag("--allow-test-only", options.read.allow_test_only);
  parser.AddFlag("--help", help);
  parser.AddFlag("-h", help);
  const auto files = parser.Parse(args);
  if (files.ok() && help) {
    std::fputs(kUsage, stdout);
    return kExitSuccess;
  }
  Result<std::map<std::string, std::string>> volumes = ParseVolumes(options.volume_texts);
  if (!files.ok() || files->empty() || !volumes.ok()) {
    const std::string why = !files.ok()     ? files.status().message()
                            : !volumes.ok() ? volumes.status().message()
                                            : "no file is given";
    std::fprintf(stderr, "pstrain validate: %s\n%s", why.c_str(), kUsage);
    return kExitUsage;
  }
  options.volumes = std::move(volumes).value();
  int exit_code = kExitSuccess;
  for (const std::string& path : *files) {
    if (!ValidateFile(path, options)) exit_code = kExitFailure;
  }
  return exit_code;
}

}  // namespace pstrain
