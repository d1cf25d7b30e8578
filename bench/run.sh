#!/usr/bin/env bash
# run.sh local [--quick]: what the programs do on this machine, as JSON lines on stdout
# (bench/README.md has their meaning). --quick: one short round of each, to see that the benches
# work. run.sh operator [--quick]: the same of pstrain-operator, in a cluster with fake nodes that
# it starts (77 where none can run).
#   PSTRAIN_BENCH_BUILD  folder of a finished build to measure; default: build/release, built here
#   PSTRAIN_BENCH_CPUS   the two CPUs to use, as for taskset; default: 0,1
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "$*" in
  local | "local --quick")
    programs=(pstrain pstrain-agent pstrain-runtime criteo_data one_process data_plane_bench agent_cost)
    ;;
  operator | "operator --quick") programs=(pstrain-operator) ;;
  *)
    echo "usage: bench/run.sh local|operator [--quick]" >&2
    exit 2
    ;;
esac
quick=("${@:2}")

if [[ -z ${PSTRAIN_BENCH_BUILD-} ]]; then
  PSTRAIN_BENCH_BUILD=build/release
  scripts/build.sh release "${programs[@]}" >&2
fi
bin=$(cd "$PSTRAIN_BENCH_BUILD/bin" && pwd)
python3 bench/machine.py
if [[ $1 == operator ]]; then exec bench/operator/run.sh "$bin/pstrain-operator" "${quick[@]}"; fi

cpus=${PSTRAIN_BENCH_CPUS:-0,1}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rounds=5
if ((${#quick[@]} > 0)); then rounds=1; fi

python3 bench/train.py --bin "$bin" --cpus "$cpus" --scratch "$scratch" "${quick[@]}"
taskset -c "$cpus" "$bin/data_plane_bench" "${quick[@]}"
taskset -c "$cpus" "$bin/agent_cost" "$rounds"
