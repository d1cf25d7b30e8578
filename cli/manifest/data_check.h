#pragma once

#include <map>
#include <string>

#include "local/replicas/volumes.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// What is wrong with the data of a job, one line a finding, each after `prefix`; empty when
/// nothing is. `job`: its paths are those of this machine. Any thread.
std::string DataProblems(const PSTrainingJob& job, const local::Volumes& volumes,
                         const std::string& prefix);

/// The same of a job as it is written: its volumes are mapped first, as `pstrain run` does it.
/// `given`: NAME -> DIR of --volume. The text is also that of a volume that cannot be mapped.
std::string DataProblemsOf(const PSTrainingJob& job,
                           const std::map<std::string, std::string>& given,
                           const std::string& state_dir, const std::string& prefix);

}  // namespace pstrain
