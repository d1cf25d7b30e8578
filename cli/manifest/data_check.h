#pragma once

#include <map>
#include <string>
#include <vector>

#include "local/replicas/volumes.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// What is to be said of the data of a job. A value.
struct DataFindings {
  /// What is wrong, one line a finding, each after the prefix; empty when nothing is.
  std::string problems;
  /// What the patterns among the input files match (MatchedFiles), where nothing is wrong.
  std::vector<std::string> matched;
};

/// Checks the data. `job`: its paths are those of this machine. Any thread, as the next one.
DataFindings CheckJobData(const PSTrainingJob& job, const local::Volumes& volumes,
                          const std::string& prefix);

/// The same of a job as it is written: its volumes are mapped first, as `pstrain run` does it.
/// `given`: NAME -> DIR of --volume. The problem is also that of a volume that cannot be mapped.
DataFindings CheckWrittenData(const PSTrainingJob& job,
                              const std::map<std::string, std::string>& given,
                              const std::string& state_dir, const std::string& prefix);

}  // namespace pstrain
