#pragma once

#include <string>
#include <vector>

namespace pstrain {

/// A subcommand as completion shows it.
struct CompletedCommand {
  std::string name;
  std::string summary;
};

/// `completion bash|zsh`: prints what the shell is to read. The names of the subcommands are in it;
/// for options it asks the program (kListOptions of cli/arguments.h). 2: wrong usage. Main thread.
int CompletionCommand(const std::vector<std::string>& args,
                      const std::vector<CompletedCommand>& commands);

}  // namespace pstrain
