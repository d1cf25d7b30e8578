#!/usr/bin/env bash
# bench_quick.sh ROOT BUILD: bench/run.sh still works, and prints every measure that the readme
# names; a build compared with itself gives the table.
set -euo pipefail
cd "$1"
PSTRAIN_BENCH_BUILD=$2 bench/run.sh local --quick | python3 -c '
import json, sys

wanted = {"machine", "raw_tcp_64k", "raw_tcp_256k", "raw_tcp_4m", "frames_1_connection",
          "frames_2_connections", "dense_push", "dense_pull", "sparse_pull_push", "chief_ids",
          "agent_cost/exec_to_listening",
          "agent_cost/rss_after_10_scrapes_of_2000_series", "agent_cost/scrape",
          "agent_cost/scrape_size", "train/one_process", "train/1ps_1worker", "train/2ps_2workers"}
found = set()
for text in sys.stdin:
    line = json.loads(text)
    part = line.get("variant") or line.get("measure")
    found.add(line["bench"] + (f"/{part}" if part else ""))
    if line["bench"] != "machine" and not line["median"] > 0:
        sys.exit(f"not measured: {text}")
    if line["bench"] in ("dense_push", "frames_1_connection") and not line["ratio"] > 0:
        sys.exit(f"no ratio: {text}")
if found != wanted:
    sys.exit(f"missing: {sorted(wanted - found)}, unknown: {sorted(found - wanted)}")
'

PSTRAIN_BENCH_BUILD=$2 bench/run.sh local --against "$2" --quick | python3 -c '
import sys

found = {}
for text in sys.stdin:
    print(text, end="")
    fields = text.split()
    if len(fields) == 8 and fields[1] in ("1", "median"):
        found[fields[0], fields[1]] = [float(field) for field in fields[2:]]
wanted = {(arrangement, line) for arrangement in ("one_process", "1ps_1worker", "2ps_2workers")
          for line in ("1", "median")}
if set(found) != wanted:
    sys.exit(f"missing: {sorted(wanted - set(found))}, unknown: {sorted(set(found) - wanted)}")
for line, (cpu, cpu_theirs, cpu_ratio, rate, rate_theirs, rate_ratio) in found.items():
    for ours, theirs, ratio in ((cpu, cpu_theirs, cpu_ratio), (rate, rate_theirs, rate_ratio)):
        if not (theirs > 0 and abs(ours / theirs - ratio) < 0.01):
            sys.exit(f"{line}: {ours} over {theirs} is not {ratio}")
'
if PSTRAIN_BENCH_BUILD=$2 bench/run.sh local --against tests --quick; then
  echo "a folder without programs was taken for a build"
  exit 1
fi

PSTRAIN_BENCH_BUILD=$2 bench/run.sh kernels --quick | python3 -c '
import json, sys

lines = [json.loads(text) for text in sys.stdin][1:]
if len(lines) != 21 or not all(line["baseline"] > 0 for line in lines):
    sys.exit(f"not measured: {lines}")
'

PSTRAIN_BENCH_BUILD=$2 bench/run.sh closures --quick | python3 -c '
import json, sys

lines = [json.loads(text) for text in sys.stdin]
rates = {line["variant"]: line["median"] for line in lines if line["bench"] == "closures"}
if set(rates) != {"pstrain", "killed_worker"} or not all(rate > 0 for rate in rates.values()):
    sys.exit(f"not measured: {rates}")
'
if PSTRAIN_BENCH_BUILD=$2 bench/run.sh closures --tensorflow /bin/false --quick; then
  echo "a program that is no Python was taken for one"
  exit 1
fi
