#!/usr/bin/env bash
# run.sh local [--quick]: what the programs do on this machine, as JSON lines on stdout
# (bench/README.md has their meaning). --quick: one short round of each, to see that the benches
# work.
# run.sh local --against BUILD [--rounds N] [--quick]: compares our training with that of another
# build, which lies in the folder BUILD; both take turns. A table on stdout.
# run.sh closures [--tensorflow PYTHON] [--quick]: how many empty functions a program's coordinator
# runs per second, and how long a killed worker is away; with a Python that has tensorflow 2.16 its
# coordinator takes turns with ours.
# run.sh kernels [--blas LIBRARY] [--quick]: the hot loops by the vector instructions that they are
# compiled for, and beside our matrix products those of a library that has cblas_sgemm.
# run.sh weights --tensorflow PYTHON: whether the same program by TensorFlow ends with the same weights.
# run.sh operator [--quick]: what pstrain-operator does, in a cluster with fake nodes that is
# started here (77 where none can run).
#   PSTRAIN_BENCH_BUILD  folder of a finished build to measure; default: build/release, built here
#   PSTRAIN_BENCH_CPUS   the two CPUs to use, as for taskset; default: 0,1
set -euo pipefail

usage() {
  echo "usage: bench/run.sh local [--against BUILD [--rounds N]] [--quick]" >&2
  echo "       bench/run.sh closures [--tensorflow PYTHON] [--quick]" >&2
  echo "       bench/run.sh kernels [--blas LIBRARY] [--quick]" >&2
  echo "       bench/run.sh weights --tensorflow PYTHON" >&2
  echo "       bench/run.sh operator [--quick]" >&2
  exit 2
}

what=${1-}
case $what in
  local) programs=(pstrain pstrain-agent pstrain-runtime criteo_data one_process) ;;
  closures | weights) programs=(pstrain pstrain-agent "$what") ;;
  kernels) programs=(kernel_bench) ;;
  operator) programs=(pstrain-operator) ;;
  *) usage ;;
esac
shift
quick=()
# Paths are made absolute before the change of folder.
against=
rounds=
tensorflow=()
blas=()
while (($# > 0)); do
  case $1 in
    --quick) quick=(--quick) ;;
    --against) against=${2:?"--against needs the folder of a build"} && shift ;;
    --rounds) rounds=${2:?"--rounds needs a number"} && shift ;;
    --tensorflow)
      tensorflow=(--tensorflow "$(realpath -s "${2:?"--tensorflow needs a Python"}")") && shift
      ;;
    --blas) blas=(--blas "$(realpath "${2:?"--blas needs a library"}")") && shift ;;
    *) usage ;;
  esac
  shift
done
if ((${#blas[@]} > 0)) && [[ $what != kernels ]]; then usage; fi
if [[ -n $against && $what != local ]] || [[ -n $rounds && -z $against ]]; then usage; fi
if ((${#tensorflow[@]} > 0)); then
  if [[ $what != closures && $what != weights ]]; then usage; fi
  if ! "${tensorflow[1]}" -c 'import tensorflow' 2>/dev/null; then
    echo "bench/run.sh: ${tensorflow[1]} is no Python that has tensorflow" >&2
    exit 2
  fi
fi
if [[ $what == weights ]] && ((${#tensorflow[@]} == 0)); then usage; fi
if [[ -n $against ]]; then
  if ! against=$(cd "$against" && pwd); then exit 2; fi
  if [[ ! -x $against/bin/pstrain ]]; then
    echo "bench/run.sh: no programs in $against/bin" >&2
    exit 2
  fi
elif [[ $what == local ]]; then
  programs+=(data_plane_bench chief_bench agent_cost)
fi

if [[ -n ${PSTRAIN_BENCH_BUILD-} ]]; then
  build=$(cd "$PSTRAIN_BENCH_BUILD" && pwd)
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [[ -z ${build-} ]]; then
  scripts/build.sh release "${programs[@]}" >&2
  build=$PWD/build/release
fi
bin=$build/bin
export PYTHONDONTWRITEBYTECODE=1

if [[ $what == operator ]]; then
  python3 bench/machine.py
  exec bench/operator/run.sh "$bin/pstrain-operator" "${quick[@]}"
fi
cpus=${PSTRAIN_BENCH_CPUS:-0,1}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if [[ -n $against ]]; then
  python3 bench/machine.py >&2  # the table alone goes to stdout
  python3 bench/against.py --ours "$build" --theirs "$against" --cpus "$cpus" \
    --scratch "$scratch" ${rounds:+--rounds "$rounds"} "${quick[@]}"
  exit
fi

python3 bench/machine.py
if [[ $what == kernels ]]; then
  taskset -c "${cpus%%,*}" "$bin/kernel_bench" "${quick[@]}" "${blas[@]}"
  exit
fi
if [[ $what == closures ]]; then
  closures=(python3 bench/closures.py --bin "$bin" --cpus "$cpus" --scratch "$scratch")
  "${closures[@]}" "${tensorflow[@]}" "${quick[@]}"
  "${closures[@]}" --kills 5 "${quick[@]}"
  exit
fi
if [[ $what == weights ]]; then
  python3 bench/weights.py --bin "$bin" --cpus "$cpus" --scratch "$scratch" "${tensorflow[@]}"
  exit
fi
rounds=5
if ((${#quick[@]} > 0)); then rounds=1; fi
python3 bench/train.py --bin "$bin" --cpus "$cpus" --scratch "$scratch" "${quick[@]}"
taskset -c "$cpus" "$bin/data_plane_bench" "${quick[@]}"
taskset -c "$cpus" "$bin/chief_bench" "${quick[@]}"
taskset -c "$cpus" "$bin/agent_cost" "$rounds"
