#!/usr/bin/env bash
# quickstart.sh [OPTION...]: from a bare machine to a trained model: installs the packages, builds
# the programs and trains examples/adult as processes on this machine. Options go to `pstrain run`.
# The last line on stdout is the result as JSON; progress goes to stderr.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/install-deps.sh
scripts/build.sh release pstrain pstrain-agent pstrain-runtime >&2
exec build/release/bin/pstrain run examples/adult/job.yaml \
  --volume data=examples/adult/data --json "$@"
