#pragma once

#include <string>
#include <vector>

namespace pstrain {

/// The subcommands of `pstrain`, one file each. Each takes the arguments after its name, writes to
/// stdout and stderr, and returns the exit code of the program. Called once, by the main thread.

/// `init DATA.csv --label COLUMN [...]`: writes a manifest for a CSV file; see its --help. 1: it
/// cannot be written; 2: wrong usage, or data that make no job.
int InitCommand(const std::vector<std::string>& args);

/// `validate [--data] FILE...`: one line per error on stderr, one per good file on stdout. 0: all
/// are good; 1: one is not; 2: wrong usage.
int ValidateCommand(const std::vector<std::string>& args);

/// `convert TFJOB.yaml`: a TFJob as a PSTrainingJob on stdout, what is not the same on stderr. 1: a
/// field is refused, or the file cannot be read; 2: wrong usage.
int ConvertCommand(const std::vector<std::string>& args);

/// `tf-config JOB.yaml --role R --index I [--set PATH=VALUE]...`: TF_CONFIG of that replica as it
/// is in the cluster, one line on stdout. 1: bad manifest or no such replica; 2: wrong usage.
int TfConfigCommand(const std::vector<std::string>& args);

/// `run JOB.yaml [...]`: runs the job on this machine; see kRunUsage in run.cc. 0: Succeeded or
/// stopped; 1: Failed; 2: wrong usage or a bad manifest; 3: a kill of --chaos did not fire.
int RunCommand(const std::vector<std::string>& args);

/// `inspect FOLDER [--digest] [--json]`: what a checkpoint holds, or the checkpoints of a run, or
/// the runs of a checkpoint directory. 1: one cannot be read; 2: wrong usage.
int InspectCommand(const std::vector<std::string>& args);

/// `report RUN [-o FILE]`: a page of HTML about a run; see its --help. 1: the run is not there, or
/// FILE cannot be written; 2: wrong usage.
int ReportCommand(const std::vector<std::string>& args);

/// `runs list|show|compare|delete`: the runs on this machine; see its --help. 1: a run is not there
/// or cannot be read; 2: wrong usage.
int RunsCommand(const std::vector<std::string>& args);

/// `evaluate RUN [--input FILE]... [--json]`: the metrics of a checkpoint on labelled records; see
/// its --help. 1: the model or a record cannot be read; 2: wrong usage.
int EvaluateCommand(const std::vector<std::string>& args);

/// `predict RUN --input FILE... [--output FILE]`: the score of each record, a line each; see its
/// --help. 1: the model or a record cannot be read, and nothing was written to FILE; 2: wrong
/// usage.
int PredictCommand(const std::vector<std::string>& args);

/// `export RUN --format FORMAT --output DIR`: a model for other programs; see its --help. 1: the
/// model cannot be read or has no such form, and DIR was not made; 2: wrong usage.
int ExportCommand(const std::vector<std::string>& args);

}  // namespace pstrain
