#include <cstdio>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "cli/commands.h"
#include "cli/scoring/saved_model.h"
#include "cli/scoring/scoring_options.h"
#include "proto/contract/exit_codes.h"
#include "runtime/model/export/export_formats.h"

namespace pstrain {
namespace {

constexpr const char* kCommand = "export";

std::string Usage() {
  return std::string(
             "usage: pstrain export RUN --format FORMAT --output DIR [options]\n"
             "\n"
             "Writes the model of a checkpoint, with what its features are, for other "
             "programs.\n") +
         kTrainedUsage + "  --format FORMAT    " + ExportFormatNames() +
         "\n"
         "  --output DIR       a new folder, which is there only when all of it is\n"
         "example: pstrain export adult --format safetensors --output model\n"
         "exit code: 0 written, 1 the model cannot be read or written so, 2 wrong usage\n";
}

struct Options : TrainedOptions {
  std::string format;
  std::string output;
};

Status Export(const Options& options, const ExportFormat& format) {
  PSTRAIN_ASSIGN_OR_RETURN(const SavedModel saved, OpenSavedModel(options.model));
  for (const std::string& warning : saved.warnings) SayScoring(kCommand, warning);
  PSTRAIN_ASSIGN_OR_RETURN(TrainedModel model,
                           TrainedModel::Open(saved.checkpoint_directory, saved.training));
  PSTRAIN_RETURN_IF_ERROR(ExportModel(model, format, options.output));
  const CheckpointManifest& manifest = model.manifest();
  std::printf("exported checkpoint %s of run %s, %lld of %lld examples, to %s\n",
              BaseName(saved.checkpoint_directory).c_str(), manifest.run_id().c_str(),
              static_cast<long long>(manifest.examples_committed()),
              static_cast<long long>(manifest.examples_expected()), options.output.c_str());
  return OkStatus();
}

int Run(const Options& options, const ExportFormat& format) {
  const Status done = Export(options, format);
  return done.ok() ? kExitSuccess : FailScoring(kCommand, done);
}

Status CheckOptions(const std::vector<std::string>& rest, Options& options) {
  PSTRAIN_RETURN_IF_ERROR(TakeTrained(rest, "the folder to write follows --output", options));
  if (options.format.empty()) {
    return InvalidArgumentError("no --format is given: it is " + ExportFormatNames());
  }
  if (!options.output.empty()) return OkStatus();
  return InvalidArgumentError("no --output is given: name a folder that does not exist");
}

}  // namespace

int ExportCommand(const std::vector<std::string>& args) {
  Options options;
  ArgumentParser parser;
  AddTrainedOptions(parser, options);
  parser.AddValue("--format", options.format);
  parser.AddValue("--output", options.output);
  const ExportFormat* format = nullptr;
  const auto check = [&](const std::vector<std::string>& rest) -> Status {
    PSTRAIN_RETURN_IF_ERROR(CheckOptions(rest, options));
    PSTRAIN_ASSIGN_OR_RETURN(format, FindExportFormat(options.format));
    return OkStatus();
  };
  return RunTrainedCommand(kCommand, args, Usage(), parser, options, check,
                           [&] { return Run(options, *format); });
}

}  // namespace pstrain
