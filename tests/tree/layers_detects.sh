#!/usr/bin/env bash
# layers_detects.sh ROOT: layers.sh must accept a small clean tree and refuse each kind of
# violation.
set -euo pipefail
root=$1
check=$root/tests/tree/layers.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

failures=0
# expect pass|fail FILE INCLUDE: the clean tree with that one line added.
expect() {
  local wanted=$1 file=$2 include=$3 outcome=pass
  rm -rf "$scratch/tree"
  mkdir -p "$scratch/tree/base" "$scratch/tree/$(dirname "$file")"
  cp -r "$root/cmake" "$scratch/tree/cmake"
  echo '#include <string>' >"$scratch/tree/base/a.h"
  echo "#include $include" >"$scratch/tree/$file"
  bash "$check" "$scratch/tree" >"$scratch/output" || outcome=fail
  if [[ $outcome != "$wanted" ]]; then
    echo "$file including $include: expected $wanted, got $outcome"
    cat "$scratch/output"
    failures=$((failures + 1))
  fi
}

expect pass agent/b.cc '"base/a.h"'
expect pass local/b.cc '"operator/plan/plan.h"'
expect pass local/b.cc '"local/replicas/ports.h"'
expect pass cli/inspect.cc '"runtime/checkpoint/checkpoint_reader.h"'
expect pass proto/job/job_manifest_yaml.cc '<yaml-cpp/yaml.h>'
expect pass tests/runtime/shard/b_test.cc '"runtime/requests/ids.h"'
expect pass runtime/main.cc '"runtime/worker/worker.h"'
expect fail base/b.cc '"proto/contract/task_env.h"'
expect fail agent/b.cc '"runtime/requests/ids.h"'
expect fail cli/run.cc '"runtime/checkpoint/checkpoint_reader.h"'
expect pass runtime/input/record_source.cc '"runtime/input/csv/csv_source.h"'
expect fail runtime/input/b.cc '"runtime/input/csv/csv_source.h"'
expect fail runtime/model/b.cc '"runtime/input/csv/csv_source.h"'
expect fail runtime/ps/b.cc '"runtime/chief/chief.h"'
expect fail operator/plan/b.cc '"agent/agent.h"'
expect fail local/replicas/b.cc '"local/chaos.h"'
expect fail agent/b.cc '<nlohmann/json.hpp>'
expect fail proto/b.cc '<yaml-cpp/yaml.h>'
expect fail agent/b.cc '<grpcpp/server.h>'
expect fail agent/b.cc '"a.h"'
expect fail cli/b.cc '<cpprest/http_client.h>'

exit "$((failures > 0))"
