#!/bin/sh
# What an agent costs: JSON lines on stdout. usage: bench/agent_cost.sh [BUILD_DIR] [RUNS]
set -eu
cd "$(dirname "$0")/.."
build="${1:-build/release}"
[ -f "$build/build.ninja" ] || cmake --preset release -B "$build" >&2
ninja -C "$build" agent_cost pstrain-agent >&2
exec "$build/bin/agent_cost" "${2:-5}"
