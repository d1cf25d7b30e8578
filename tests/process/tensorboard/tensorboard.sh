#!/usr/bin/env bash
# tensorboard.sh BIN: TensorBoard reads what `pstrain run --tensorboard` writes, and has the numbers
# of `--history`. 77 where TensorBoard is not installed.
set -euo pipefail
bin=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
packages=$("$root/scripts/python-tools.sh" --path tensorboard) || exit $?
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
for part in train test; do
  gzip -dc "$root/tests/golden/breast_cancer/$part.csv.gz" >"$part.csv"
done
"$bin/pstrain" init train.csv --label diagnosis --eval test.csv >run.log
"$bin/pstrain" run job.yaml --set spec.training.epochs=200 --tensorboard board \
  --history curve.csv >>run.log 2>&1 || { cat run.log >&2; exit 1; }
PYTHONPATH="$packages" python3 -B "$root/tests/process/tensorboard/read_events.py" board curve.csv
