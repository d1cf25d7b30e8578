#include "proto/contract/tf_config.h"

#include <cstdio>
#include <string>
#include <system_error>
#include <vector>

#include "base/text/parse_number.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "proto/contract/exit_codes.h"
#include "proto/contract/roles.h"
#include "proto/job/job_manifest.h"

namespace pstrain {
namespace {

constexpr const char* kUsage =
    "usage: pstrain tf-config JOB.yaml --role R --index I [--set PATH=VALUE]...\n"
    "\n"
    "Prints the TF_CONFIG that replica I of role R (chief, ps, worker, evaluator) has in the\n"
    "cluster.\n"
    "  --set PATH=VALUE  set a field of the manifest; may be repeated\n"
    "example: pstrain tf-config adult.yaml --role worker --index 1\n"
    "exit code: 0 printed, 1 a bad manifest or no such replica, 2 wrong usage\n";

struct Request {
  bool help = false;
  std::string file;
  std::string role;
  int index = 0;
  ReadOptions read;
};

Result<Request> ParseRequest(const std::vector<std::string>& args) {
  Request request;
  std::string index;
  ArgumentParser parser;
  parser.AddValue("--role", request.role);
  parser.AddValue("--index", index);
  parser.AddList("--set", request.read.overrides);
  parser.AddFlag("--help", request.help);
  parser.AddFlag("-h", request.help);
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::string> files, parser.Parse(args));
  if (request.help) return request;
  if (files.size() != 1) return InvalidArgumentError("one job file is needed");
  if (request.role.empty() || index.empty()) {
    return InvalidArgumentError("--role and --index are needed");
  }
  if (!RoleFromName(request.role)) {
    return InvalidArgumentError("--role must be " + std::string(kRoleNames) + "; found " +
                                request.role);
  }
  const auto number = ParseNumber<int>(index);
  if (!number || *number < 0) {
    return InvalidArgumentError("--index must be a whole number from 0; found " + index);
  }
  request.index = *number;
  request.file = files.front();
  return request;
}

Result<std::string> TfConfigFor(const Request& request) {
  PSTRAIN_ASSIGN_OR_RETURN(const PSTrainingJob job, LoadJobManifest(request.file, request.read));
  return TfConfigOf(job, KubernetesCluster(job), request.role, request.index);
}

}  // namespace

int TfConfigCommand(const std::vector<std::string>& args) {
  const auto request = ParseRequest(args);
  if (!request.ok()) {
    std::fprintf(stderr, "pstrain tf-config: %s\n%s", request.status().message().c_str(), kUsage);
    return kExitUsage;
  }
  if (request->help) {
    std::fputs(kUsage, stdout);
    return kExitSuccess;
  }
  const auto text = TfConfigFor(*request);
  if (!text.ok()) {
    std::fprintf(stderr, "%s\n", text.status().message().c_str());
    return kExitFailure;
  }
  std::printf("%s\n", text->c_str());
  return kExitSuccess;
}

}  // namespace pstrain
