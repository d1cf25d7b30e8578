#include "cli/manifest/data_check.h"

#include "base/os/files.h"
#include "local/preflight/preflight.h"
#include "local/replicas/pod_template.h"
#include "proto/contract/task_env.h"

namespace pstrain {

DataFindings CheckJobData(const PSTrainingJob& job, const local::Volumes& volumes,
                          const std::string& prefix) {
  DataFindings found;
  const auto why_absent = [&volumes](const std::string& path) { return volumes.WhyAbsent(path); };
  for (const std::string& finding : CheckData(job.spec(), why_absent)) {
    found.problems += (found.problems.empty() ? "" : "\n") + prefix + finding;
  }
  if (found.problems.empty()) found.matched = MatchedFiles(job.spec());
  return found;
}

DataFindings CheckWrittenData(const PSTrainingJob& job,
                              const std::map<std::string, std::string>& given,
                              const std::string& state_dir, const std::string& prefix) {
  const Result<std::map<plan::Role, local::PodTemplate>> templates = local::ReadPodTemplates(job);
  if (!templates.ok()) return {prefix + templates.status().message(), {}};
  const std::string stand_ins = JoinPath(JoinPath(state_dir, job.metadata().name()), "volumes");
  const Result<local::Volumes> volumes =
      local::Volumes::Create(*templates, given, stand_ins,
                             job.spec().security().has_tls() ? kTlsVolume : std::string_view());
  if (!volumes.ok()) return {prefix + volumes.status().message(), {}};
  return CheckJobData(local::MapJobPaths(volumes->mounts(), job), *volumes, prefix);
}

}  // namespace pstrain
