#!/usr/bin/env bash
# saved_model.sh BIN: TensorFlow reads what `pstrain export --format saved_model` writes, and scores
# 10,000 records as `pstrain predict` does. 77 where TensorFlow is not installed.
set -euo pipefail
# shellcheck source=tests/process/export/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" tensorflow

two_models saved_model
reader read_saved_model.py "$root/runtime/model/export/saved_model/saved_model.proto" \
  "$tmp/records.csv" "${read_models[@]}"
