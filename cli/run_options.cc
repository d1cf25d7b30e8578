#include "cli/run_options.h"

#include "base/text/parse_number.h"
#include "cli/arguments.h"

namespace pstrain {
namespace {

std::string Quote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

const char* const kRunUsage =
    "usage: pstrain run JOB.yaml [options]\n"
    "\n"
    "Runs a PSTrainingJob on this machine: every replica is a process, restarted by the rules "
    "that\n"
    "the operator uses. Ctrl-C stops the job, saves its work and prints how to continue; a\n"
    "second Ctrl-C kills it.\n"
    "\n"
    "  --set PATH=VALUE       set a field of the manifest, e.g. spec.replicaSpecs.ps.replicas=3;\n"
    "                         may be repeated\n"
    "  --volume NAME=DIR      the directory to use for the volume NAME\n"
    "                         (default STATE_DIR/JOB/volumes/NAME); may be repeated\n"
    "  --state-dir DIR        where logs, run ids and volumes are kept (default .pstrain)\n"
    "  --resume               continue the last run of this job\n"
    "  --stop-at PERCENT      stop, as by Ctrl-C, when this percentage of the training is done\n"
    "  --chaos LIST           kill replicas: ROLE[:INDEX]@PERCENT[:kill|term|agent],...; with\n"
    "                         spec.program a number of calls in place of the percentage;\n"
    "                         kill: SIGKILL to the training process (default); term: SIGTERM to\n"
    "                         the replica; agent: SIGKILL to the whole replica\n"
    "  --history FILE         write the course of the run as CSV: loss and counts every moment, "
    "the\n"
    "                         metrics of each evaluation, what happened to replicas\n"
    "  --tensorboard DIR      write the same for TensorBoard, into DIR/RUN\n"
    "  --json                 print one line of JSON on stdout at the end\n"
    "  --allow-test-only      admit fields and fail points that only pstrain's own tests use\n"
    "\n"
    "example: pstrain run examples/quickstart.yaml --set spec.training.epochs=2\n"
    "exit code: 0 succeeded or stopped, 1 failed, 2 wrong usage, a bad manifest, or data\n"
    "that does not match it (nothing was started), 3 a kill of --chaos did not fire\n";

Result<RunOptions> ParseRunOptions(const std::vector<std::string>& args) {
  RunOptions options;
  ArgumentParser parser;
  parser.AddList("--set", options.sets);
  parser.AddList("--volume", options.volumes);
  parser.AddValue("--state-dir", options.state_dir);
  parser.AddValue("--stop-at", options.stop_at);
  parser.AddValue("--chaos", options.chaos);
  parser.AddValue("--history", options.history);
  parser.AddValue("--tensorboard", options.tensorboard);
  parser.AddFlag("--resume", options.resume);
  parser.AddFlag("--json", options.json);
  parser.AddFlag("--allow-test-only", options.allow_test_only);
  parser.AddFlag("--help", options.help);
  parser.AddFlag("-h", options.help);
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::string> positionals, parser.Parse(args));
  if (options.help) return options;
  if (positionals.size() != 1)
    return InvalidArgumentError("give one manifest: pstrain run JOB.yaml");
  options.manifest = positionals.front();
  return options;
}

Result<std::map<std::string, std::string>> ParseVolumes(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> volumes;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      return InvalidArgumentError("--volume " + text + ": the form is NAME=DIR");
    }
    volumes[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return volumes;
}

Result<std::optional<double>> ParsePercent(const std::string& text) {
  if (text.empty()) return std::optional<double>();
  const std::optional<double> value = ParseNumber<double>(text);
  if (!value || *value < 0 || *value > 100) {
    return InvalidArgumentError("--stop-at " + text + ": must be a number from 0 to 100");
  }
  return value;
}

std::string ResumeCommand(const RunOptions& options) {
  std::string command = "pstrain run " + Quote(options.manifest);
  for (const std::string& set : options.sets) command += " --set " + Quote(set);
  for (const std::string& volume : options.volumes) command += " --volume " + Quote(volume);
  if (options.state_dir != ".pstrain") command += " --state-dir " + Quote(options.state_dir);
  if (!options.history.empty()) command += " --history " + Quote(options.history);
  if (!options.tensorboard.empty()) command += " --tensorboard " + Quote(options.tensorboard);
  if (options.allow_test_only) command += " --allow-test-only";
  return command + " --resume";
}

}  // namespace pstrain
