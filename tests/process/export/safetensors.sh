#!/usr/bin/env bash
# safetensors.sh BIN: what `pstrain export --format safetensors` writes is all that another program
# needs: the package safetensors reads the tensors, and numpy scores records by them and the manifest
# as `pstrain predict` does. 77 where the packages are not installed.
set -euo pipefail
# shellcheck source=tests/process/export/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" safetensors

train "$root/tests/process/export/job.yaml"
pstrain export small --format safetensors --output "$tmp/model" >"$tmp/said"
grep -Eqx 'exported checkpoint 1-[0-9]+ of run [0-9a-f]+, 32561 of 32561 examples, to .*/model' \
  "$tmp/said"
records 5000 >"$tmp/records.csv"
pstrain predict small --input "$tmp/records.csv" --output "$tmp/scores"
reader read_safetensors.py "$tmp/model" "$tmp/records.csv" "$tmp/scores"
