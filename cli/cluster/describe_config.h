#pragma once

#include <string>

#include "cli/cluster/problem.h"
#include "cli/cluster/session.h"

namespace pstrain::cluster {

/// `pstrain describe-config`: what the job's ConfigMap holds (the job as the defaults fill it), and
/// for each role the environment of its first replica with TF_CONFIG as the program sees it. Values
/// of Secrets are not read. One thread; blocks.
Outcome DescribeConfig(Session& session, const std::string& job);

}  // namespace pstrain::cluster
