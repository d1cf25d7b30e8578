#!/usr/bin/env bash
# tidy.sh [FILE.cc...]: clang-tidy over these sources, or over all that ship; fails on any finding.
# JOBS sets how many run in parallel.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Generated headers must exist before a file that includes them can be parsed.
scripts/build.sh tidy pstrain_generated | tail -n 5

if (($# == 0)); then
  mapfile -t sources < <(find base proto crds operator agent runtime library local cli metrics -name '*.cc' | sort)
  set -- "${sources[@]}"
fi
exec python3 scripts/tidy.py "$@"
