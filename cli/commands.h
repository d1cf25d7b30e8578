#pragma once

#include <string>
#include <vector>

namespace pstrain {

/// The subcommands of `pstrain`, one file each. Each takes the arguments after its name, writes to
/// stdout and stderr, and returns the exit code of the program.

/// `validate [--allow-test-only] FILE...`: one line per error on stderr. 0: all are good; 1: one is
/// not; 2: wrong usage.
int ValidateCommand(const std::vector<std::string>& args);

/// `tf-config JOB.yaml --role R --index I [--set PATH=VALUE]...`: TF_CONFIG of that replica as it
/// is in the cluster, one line on stdout. 1: bad manifest or no such replica; 2: wrong usage.
int TfConfigCommand(const std::vector<std::string>& args);

}  // namespace pstrain
