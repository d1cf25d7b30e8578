#!/usr/bin/env bash
# onnx.sh BIN: onnxruntime reads what `pstrain export --format onnx` writes, and scores 10,000 records
# as `pstrain predict` does. 77 where the packages are not installed.
set -euo pipefail
# shellcheck source=tests/process/export/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" onnx

two_models onnx
reader read_onnx.py "$root/runtime/model/export/onnx/onnx.proto" "$root/tests/golden/hashing.json" \
  "$tmp/records.csv" "${read_models[@]}"
