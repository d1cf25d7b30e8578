#!/usr/bin/env bash
# saved_model.sh BIN: TensorFlow reads what `pstrain export --format saved_model` writes, and scores
# 10,000 records as `pstrain predict` does: the example's Wide & Deep with hashes, vocabularies,
# buckets and crosses, and a DeepFM with what the example lacks. 77 where TensorFlow is not installed.
set -euo pipefail
# shellcheck source=tests/process/export/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1" tensorflow

train "$root/examples/adult/job.yaml" --set spec.training.epochs=1
train "$root/tests/process/export/deep_fm.yaml"
records 10000 >"$tmp/records.csv"
read_models=()
for job in adult deep; do
  pstrain export "$job" --format saved_model --output "$tmp/$job"
  pstrain predict "$job" --input "$tmp/records.csv" --output "$tmp/$job.scores"
  read_models+=("$tmp/$job" "$tmp/$job.scores")
done
# The same model gives the same bytes.
pstrain export adult --format saved_model --output "$tmp/again"
cmp "$tmp/adult/saved_model.pb" "$tmp/again/saved_model.pb"
reader read_saved_model.py "$root/runtime/model/export/saved_model/saved_model.proto" \
  "$tmp/records.csv" "${read_models[@]}"
