#!/usr/bin/env bash
# same_weights.sh ROOT BUILD: a program by pstrain ends with the weights that it has in TensorFlow; 77
# where TensorFlow is not installed. PSTRAIN_TENSORFLOW: a Python that has it, instead of the packages
# of scripts/python-tools.sh.
set -euo pipefail
cd "$1"
tensorflow=${PSTRAIN_TENSORFLOW-}
if [[ -z $tensorflow ]]; then
  packages=$(scripts/python-tools.sh --path tensorflow) || exit $?
  export PYTHONPATH=$packages
  tensorflow=$(command -v python3)
fi
PSTRAIN_BENCH_BUILD=$2 bench/run.sh weights --tensorflow "$tensorflow"
