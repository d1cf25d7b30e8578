#include <array>
#include <cstddef>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/runs/delete_run.h"
#include "cli/runs/run_folder.h"
#include "cli/runs/run_tables.h"
#include "proto/contract/exit_codes.h"

namespace pstrain {
namespace {

constexpr const char* kUsage =
    "usage: pstrain runs list [JOB] [options]\n"
    "       pstrain runs show RUN [options]\n"
    "       pstrain runs compare RUN RUN... [options]\n"
    "       pstrain runs delete RUN... [options]\n"
    "\n"
    "The runs that were started on this machine by pstrain run, with what their folders hold.\n"
    "  RUN              a run id, the name of a job (its last run), or the folder of a run\n"
    "  list             a line for each run; * is before the last run of a job\n"
    "  show             its state, its result and its checkpoints\n"
    "  compare          the numbers of their results side by side, and which fields of their jobs\n"
    "                   differ\n"
    "  delete           removes a run with its checkpoints; not while its job is running\n"
    "  --state-dir DIR  where the jobs were run (default .pstrain)\n"
    "  --json           one line of JSON; not with delete\n"
    "example: pstrain runs compare adult 20260102-030405-1a2b\n"
    "exit code: 0 done, 1 a run is not there, cannot be read or is in use, 2 wrong usage\n";

struct Options {
  std::string state_dir = ".pstrain";
  bool json = false;
  bool help = false;
};
using Names = std::vector<std::string>;

void Print(const Options& options, const std::string& text, const Json& json) {
  std::fputs(options.json ? (WriteJson(json) + "\n").c_str() : text.c_str(), stdout);
}

Result<std::vector<RunEntry>> Find(const Options& options, const Names& names) {
  std::vector<RunEntry> runs;
  for (const std::string& name : names) {
    PSTRAIN_ASSIGN_OR_RETURN(runs.emplace_back(), FindRunEntry(options.state_dir, name));
  }
  return runs;
}

/// After all has been printed: what of it could not be read.
Status AllRead(std::vector<std::string> problems, const std::vector<RunEntry>& runs) {
  for (const RunEntry& run : runs) {
    if (!run.problem.empty()) problems.push_back("run " + run.run_id + ": " + run.problem);
  }
  if (problems.empty()) return OkStatus();
  std::string all = problems.front();
  for (std::size_t i = 1; i < problems.size(); ++i) all += "; " + problems[i];
  return DataLossError(all);
}

Status List(const Options& options, const Names& names) {
  PSTRAIN_ASSIGN_OR_RETURN(RunsHere here, ListRunsHere(options.state_dir));
  if (!names.empty()) {
    std::erase_if(here.runs, [&](const RunEntry& run) { return run.job != names.front(); });
    if (here.runs.empty()) {
      return NotFoundError("no run of job " + names.front() + " is in " + options.state_dir);
    }
  }
  Print(options, RunList(here.runs), RunsJson(here.runs));
  return AllRead(std::move(here.problems), here.runs);
}

Status Show(const Options& options, const Names& names) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<RunEntry> runs, Find(options, names));
  Print(options, RunDetails(runs.front()), RunJson(runs.front()));
  return AllRead({}, runs);
}

Status Compare(const Options& options, const Names& names) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<RunEntry> runs, Find(options, names));
  Print(options, RunComparison(runs), ComparisonJson(runs));
  return AllRead({}, runs);
}

Status Delete(const Options& options, const Names& names) {
  // All of them are found before the first is removed: the name of a job is that of another run
  // then.
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<RunEntry> runs, Find(options, names));
  std::set<std::string> deleted;
  for (const RunEntry& run : runs) {
    if (!deleted.insert(run.directory).second) continue;
    PSTRAIN_ASSIGN_OR_RETURN(const std::string last, DeleteRun(options.state_dir, run));
    std::printf("deleted %s\n", run.directory.c_str());
    if (!last.empty()) std::printf("%s is the last run of %s now\n", last.c_str(), run.job.c_str());
  }
  return OkStatus();
}

struct Verb {
  std::string_view name;
  std::size_t fewest;
  std::size_t most;
  std::string_view takes;
  Status (*run)(const Options& options, const Names& names);
};
constexpr std::size_t kAny = 1000;
constexpr std::array kVerbs = {
    Verb{"list", 0, 1, "one job or none", List},
    Verb{"show", 1, 1, "one run", Show},
    Verb{"compare", 2, kAny, "two runs or more", Compare},
    Verb{"delete", 1, kAny, "one run or more", Delete},
};

int Refuse(const std::string& what) {
  std::fprintf(stderr, "pstrain runs: %s\n%s", what.c_str(), kUsage);
  return kExitUsage;
}

}  // namespace

int RunsCommand(const std::vector<std::string>& args) {
  Options options;
  ArgumentParser parser;
  parser.AddValue("--state-dir", options.state_dir);
  parser.AddFlag("--json", options.json);
  parser.AddFlag("--help", options.help);
  parser.AddFlag("-h", options.help);
  Result<Names> names = parser.Parse(args);
  if (!names.ok()) return Refuse(names.status().message());
  if (options.help) {
    std::fputs(kUsage, stdout);
    return kExitSuccess;
  }
  if (names->empty()) return Refuse("list, show, compare or delete is to be given");
  const std::string verb = names->front();
  names->erase(names->begin());
  for (const Verb& known : kVerbs) {
    if (known.name != verb) continue;
    if (names->size() < known.fewest || names->size() > known.most) {
      return Refuse(verb + " takes " + std::string(known.takes) +
                    "; given: " + std::to_string(names->size()));
    }
    if (options.json && known.run == Delete) return Refuse("--json is not for delete");
    const Status done = known.run(options, *names);
    if (done.ok()) return kExitSuccess;
    std::fprintf(stderr, "pstrain runs: %s\n", done.message().c_str());
    return kExitFailure;
  }
  return Refuse(verb + " is none of list, show, compare and delete");
}

}  // namespace pstrain
