#!/usr/bin/env bash
# build.sh [PRESET] [TARGET...]: configures and builds; PRESET defaults to dev, TARGET to all.
# The output lies in build/PRESET; JOBS sets the number of compilers that run in parallel.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:-dev}
shift $(($# > 0 ? 1 : 0))

# Paths relative to the tree, so that a second checkout finds what the first has compiled.
export CCACHE_BASEDIR=$PWD
export CCACHE_NOHASHDIR=1
# What ccache asks for where headers are precompiled.
export CCACHE_SLOPPINESS=pch_defines,time_macros
export CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/pstrain/ccache}
mkdir -p "$CCACHE_DIR"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake --preset "$preset" >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
targets=()
if (($# > 0)); then targets=(--target "$@"); fi
cmake --build "build/$preset" -j "${JOBS:-$(nproc)}" "${targets[@]}"
