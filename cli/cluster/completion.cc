#include "cli/cluster/completion.h"

#include <cstdio>
#include <string_view>

#include "cli/arguments.h"
#include "proto/contract/exit_codes.h"

namespace pstrain {
namespace {

constexpr const char* kUsage =
    "usage: pstrain completion bash|zsh\n"
    "\n"
    "Prints what completes subcommands and options of pstrain in that shell.\n"
    "example: source <(pstrain completion bash)\n"
    "exit code: 0 printed, 2 wrong usage\n";

constexpr std::string_view kBash =
    R"sh(# Completion of pstrain in bash: source <(pstrain completion bash)
_pstrain() {
  local word=${COMP_WORDS[COMP_CWORD]} words=
  if ((COMP_CWORD == 1)); then
    words="@COMMANDS@"
  elif [[ $word == -* ]]; then
    words=$("${COMP_WORDS[0]}" "${COMP_WORDS[1]}" @LIST@ 2>/dev/null)
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _pstrain pstrain kubectl-pstrain
)sh";

constexpr std::string_view kZsh =
    R"sh(#compdef pstrain kubectl-pstrain
# Completion of pstrain in zsh: source <(pstrain completion zsh)
_pstrain() {
  if ((CURRENT == 2)); then
    local -a commands=(
@DESCRIBED@    )
    _describe command commands
  elif [[ $PREFIX == -* ]]; then
    compadd -- ${(f)"$("${words[1]}" "${words[2]}" @LIST@ 2>/dev/null)"}
  else
    _files
  fi
}
compdef _pstrain pstrain kubectl-pstrain
)sh";

void Replace(std::string& text, std::string_view mark, std::string_view by) {
  text.replace(text.find(mark), mark.size(), by);
}

}  // namespace

int CompletionCommand(const std::vector<std::string>& args,
                      const std::vector<CompletedCommand>& commands) {
  bool help = false;
  ArgumentParser parser;
  parser.AddFlag("--help", help);
  parser.AddFlag("-h", help);
  const Result<std::vector<std::string>> names = parser.Parse(args);
  const bool known =
      names.ok() && names->size() == 1 && (names->front() == "bash" || names->front() == "zsh");
  if (help || !known) {
    std::fputs(kUsage, help ? stdout : stderr);
    return help ? kExitSuccess : kExitUsage;
  }
  std::string all;
  std::string described;
  for (const CompletedCommand& command : commands) {
    all += (all.empty() ? "" : " ") + command.name;
    described += "      '" + command.name + ":" + command.summary + "'\n";
  }
  const bool bash = names->front() == "bash";
  std::string text(bash ? kBash : kZsh);
  Replace(text, bash ? "@COMMANDS@" : "@DESCRIBED@", bash ? all : described);
  Replace(text, "@LIST@", kListOptions);
  std::fputs(text.c_str(), stdout);
  return kExitSuccess;
}

}  // namespace pstrain
