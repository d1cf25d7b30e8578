#!/usr/bin/env bash
# bench_quick.sh ROOT BUILD: bench/run.sh still works, and prints every measure that the readme
# names.
set -euo pipefail
cd "$1"
PSTRAIN_BENCH_BUILD=$2 bench/run.sh local --quick | python3 -c '
import json, sys

wanted = {"machine", "raw_tcp_64k", "raw_tcp_256k", "raw_tcp_4m", "frames_1_connection",
          "frames_2_connections", "dense_push", "dense_pull", "sparse_pull_push", "agent_cost/exec_to_listening",
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
