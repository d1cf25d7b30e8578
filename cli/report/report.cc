#include <cstdio>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/report/find_history.h"
#include "cli/report/report_page.h"
#include "proto/contract/exit_codes.h"

namespace pstrain {
namespace {

constexpr const char* kUsage =
    "usage: pstrain report RUN [-o FILE] [--state-dir DIR]\n"
    "\n"
    "Writes a page about a run that was run here: its curves, the load of each ps and worker, the\n"
    "ends of replicas on the time axis. One file of HTML, which needs no network and no script.\n"
    "RUN is the name of a job, which stands for its last run, a run id, or the folder of a run.\n"
    "\n"
    "  -o, --output FILE  where the page goes (default report.html; - is standard output)\n"
    "  --state-dir DIR    where the job was run (default .pstrain)\n"
    "\n"
    "example: pstrain report adult -o adult.html\n"
    "exit code: 0 written, 1 the run is not there or FILE cannot be written, 2 wrong usage\n";

struct Options {
  std::string run;
  std::string output = "report.html";
  std::string state_dir = ".pstrain";
};

Status Write(const Options& options) {
  PSTRAIN_ASSIGN_OR_RETURN(const ReportFacts facts,
                           FindHistory(options.state_dir, WithoutSlash(options.run)));
  const std::string page = ReportPage(facts);
  if (options.output != "-") return WriteFileAtomically(options.output, page);
  return std::fputs(page.c_str(), stdout) >= 0 && std::fflush(stdout) == 0
             ? OkStatus()
             : InternalError("standard output cannot be written");
}

}  // namespace

int ReportCommand(const std::vector<std::string>& args) {
  Options options;
  std::vector<std::string> outputs;
  bool help = false;
  ArgumentParser parser;
  parser.AddList("-o", outputs);
  parser.AddList("--output", outputs);
  parser.AddValue("--state-dir", options.state_dir);
  parser.AddFlag("--help", help);
  parser.AddFlag("-h", help);
  const Result<std::vector<std::string>> rest = parser.Parse(args);
  if (rest.ok() && help) {
    std::fputs(kUsage, stdout);
    return kExitSuccess;
  }
  if (!rest.ok() || rest->size() != 1 || outputs.size() > 1) {
    const std::string why = !rest.ok()           ? rest.status().message()
                            : outputs.size() > 1 ? "--output is given twice"
                                                 : "give one run: pstrain report RUN";
    std::fprintf(stderr, "pstrain report: %s (see pstrain report --help)\n", why.c_str());
    return kExitUsage;
  }
  options.run = rest->front();
  if (!outputs.empty()) options.output = outputs.front();
  const Status written = Write(options);
  if (written.ok()) return kExitSuccess;
  std::fprintf(stderr, "pstrain report: %s\n", written.message().c_str());
  return kExitFailure;
}

}  // namespace pstrain
