#!/usr/bin/env bash
# tidy.sh [FILE.cc...]: clang-tidy over these sources, or over all that ship; fails on any finding.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Generated headers must exist before a file that includes them can be parsed.
scripts/build.sh tidy pstrain_messages pstrain_grpc pstrain_data_messages | tail -n 5

if (($# > 0)); then
  printf '%s\0' "$@"
else
  find base proto crds operator agent runtime cli -name '*.cc' -print0
fi |
  # What clang-tidy writes to stderr is the count of what it left out.
  xargs -0 -P "${JOBS:-$(nproc)}" -n 2 clang-tidy-19 -p build/tidy --quiet 2> >(
    grep -vE '^([0-9]+ warnings? (generated|treated as)|Suppressed )' >&2)
