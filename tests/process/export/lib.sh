# For tests that export a model and read it by another program: to be sourced by a script that was
# called with the folder of the programs first. Gives `bin`, `root`, `tmp` and what is below; stops
# with 77 where the set of packages `$2` is not installed.
# shellcheck shell=bash
bin=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
packages=$("$root/scripts/python-tools.sh" --path "$2") || exit $?
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

pstrain() { "$bin/pstrain" "$@" --state-dir "$tmp/state"; }
# train JOB ARGUMENT...: runs a job on the example's data.
train() {
  local job=$1
  shift
  pstrain run "$job" --volume data="$root/examples/adult/data" "$@" >"$tmp/run.log" 2>&1 || {
    cat "$tmp/run.log" >&2
    return 1
  }
}
# records COUNT: the first records of the example's test file, as CSV.
records() {
  gzip -dc "$root/examples/adult/data/adult.test.gz" | sed -e '/^|/d' -e '/^$/d' -e 's/, /,/g' |
    awk -v most="$1" 'NR <= most'
}
# two_models FORMAT: trains the example's Wide & Deep, with hashes, vocabularies, buckets and crosses,
# and a DeepFM with what the example lacks; exports both in that format, the first twice, into the same
# bytes; and scores 10,000 records. `read_models` is what a reader takes: folder and scores of each.
two_models() {
  local format=$1 job
  train "$root/examples/adult/job.yaml" --set spec.training.epochs=1
  train "$root/tests/process/export/deep_fm.yaml"
  records 10000 >"$tmp/records.csv"
  read_models=()
  for job in adult deep; do
    pstrain export "$job" --format "$format" --output "$tmp/$job"
    pstrain predict "$job" --input "$tmp/records.csv" --output "$tmp/$job.scores"
    read_models+=("$tmp/$job" "$tmp/$job.scores")
  done
  pstrain export adult --format "$format" --output "$tmp/again"
  diff -r "$tmp/adult" "$tmp/again"
}
# reader SCRIPT ARGUMENT...: runs a script of this folder with the packages.
reader() {
  local script=$1
  shift
  PYTHONPATH="$packages" python3 -B "$root/tests/process/export/$script" "$@"
}
