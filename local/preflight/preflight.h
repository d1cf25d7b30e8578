#pragma once

#include <functional>
#include <string>
#include <vector>

#include "proto/job/psjob.pb.h"

namespace pstrain {

/// Looks at the data of a job before anything is started: each input file must be there and
/// readable, and the first records of the first files must be what the job says. Reads at most
/// 1 MiB of a file, and writes nothing. What it does not find, the chief finds when it reads the
/// whole input. Any thread.

/// Why nothing lies at a path that is absent, where the caller knows: a volume that was not given.
/// Empty: it does not know.
using WhyAbsent = std::function<std::string(const std::string& path)>;

/// One line a finding, with the field of the job; empty when nothing is wrong. `why_absent` may be
/// empty. REQUIRES: the job was read without an error; of one without spec.training there is
/// nothing to look at.
std::vector<std::string> CheckData(const JobSpec& spec, const WhyAbsent& why_absent = {});

/// What the patterns among the input files match, one line each, with the field of the job:
/// `spec.training.input.csv: "part-*.csv" matches 3 files, part-0.csv to part-2.csv`. Of those that
/// match nothing CheckData speaks.
std::vector<std::string> MatchedFiles(const JobSpec& spec);

}  // namespace pstrain
