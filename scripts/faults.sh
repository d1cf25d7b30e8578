#!/usr/bin/env bash
# faults.sh [--parallel N]: writes docs/faults.md: what one fault of each kind does to a job on this
# machine, by role. Fails when a job hangs. Needs root for namespaces of its own; takes about two
# hours. N jobs run at a time (2). What it has found is kept beside the build (faults.jsonl), so that
# it continues where it was interrupted.
#   PSTRAIN_SOAK_BUILD  a build folder to use instead of build/release, which is built otherwise
# --only REGEX takes the cells in whose "ROLE: FAULT" it is found, e.g. '^ps: .*for ever'.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${PSTRAIN_SOAK_BUILD:-}
if [[ -z $build ]]; then
  scripts/install-deps.sh
  scripts/build.sh release pstrain pstrain-agent pstrain-runtime failing_calls >&2
  build=build/release
fi
exec python3 tests/soak/fault_table.py --bin "$(realpath "$build/bin")" "$@"
