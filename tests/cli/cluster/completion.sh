#!/usr/bin/env bash
# completion.sh PSTRAIN: what `pstrain completion` prints completes subcommands and options in bash,
# and each subcommand that it names has options and a --help with an example.
set -euo pipefail
pstrain=$1
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
ln -s "$pstrain" "$folder/pstrain"
PATH=$folder:$PATH
source <(pstrain completion bash)

failed=0
expect() { # WHAT WANTED GOT
  [[ $2 == "$3" ]] && return
  echo "$1: wanted '$2', got '$3'"
  failed=1
}
complete_words() { # WORD...
  COMP_WORDS=(pstrain "$@")
  COMP_CWORD=$#
  _pstrain || true
}

complete_words res
expect 'a subcommand' 'resume restart' "${COMPREPLY[*]}"
complete_words logs --me
expect 'an option' '--merge' "${COMPREPLY[*]}"
complete_words run --re
expect 'an option of a command without a cluster' '--resume' "${COMPREPLY[*]}"
complete_words logs ''
expect 'a name' '' "${COMPREPLY[*]:-}"

complete_words ''
[[ ${#COMPREPLY[@]} -ge 15 ]] || { echo "only ${COMPREPLY[*]}"; failed=1; }
for command in "${COMPREPLY[@]}"; do
  complete_words "$command" --help
  expect "$command --help" '--help' "${COMPREPLY[*]:-}"
  help=$(pstrain "$command" --help)
  [[ $help == *"example: "* ]] || { echo "$command --help has no example"; failed=1; }
  [[ $(pstrain completion zsh) == *"'$command:"* ]] || { echo "zsh does not know $command"; failed=1; }
done
if command -v zsh > /dev/null; then zsh -n <(pstrain completion zsh); fi
exit "$failed"
