#!/usr/bin/env bash
# bench_operator_quick.sh ROOT BUILD: bench/run.sh operator still works, prints every measure that
# the readme names, and two operators do nothing twice. 77 where no cluster can run or its programs
# are not built.
set -euo pipefail
cd "$1"
# shellcheck source=e2e/cluster/lib/common.sh
. e2e/cluster/lib/common.sh
# shellcheck source=e2e/can_run.sh
. e2e/can_run.sh
missing=$(e2e/cluster/build-tools.sh --missing "${fake_node_tools[@]}")
if [[ -n $missing ]]; then
  echo "SKIPPED: not built (e2e/cluster/build-tools.sh): $missing"
  exit 77
fi
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
PSTRAIN_BENCH_BUILD=$2 bench/run.sh operator --quick >"$lines" || exit
python3 - "$lines" <<'END'
import json, sys

wanted = {
    "machine", "at_rest/0_jobs", "at_rest/5_jobs_x_10_running",
    "at_rest/5_jobs_x_10_with_news_every_5_s", "at_rest/5_jobs_finished",
    "replacement/watch_event_to_create", "replacement/delete_call_to_create",
    "creation/bare_loop", "creation/1_job_x_53", "creation/5_jobs_x_10",
    "replacement_concurrent/1_job_x_53", "replacement_concurrent/5_jobs_x_10",
    "api_calls/1_job_x_53", "api_calls/5_jobs_x_10", "api_calls/5_jobs_x_10_start_to_end",
    "handover/clean_exit", "handover/sigkill",
}
found = set()
with open(sys.argv[1], encoding="utf-8") as lines:
    for text in lines:
        line = json.loads(text)
        part = next((line[key] for key in ("variant", "measure", "state", "shape") if key in line), "")
        found.add(line["bench"] + (f"/{part}" if part else ""))
        if line["bench"] == "creation" and not line["median"] > 0:
            sys.exit(f"not measured: {text}")
        if line["bench"] == "handover" and line["done_twice"] != 0:
            sys.exit(f"done twice: {text}")
        if part.endswith("_finished") and line["writes"] != 0:
            sys.exit(f"writes although all jobs have finished: {text}")
if found != wanted:
    sys.exit(f"missing: {sorted(wanted - found)}, unknown: {sorted(found - wanted)}")
END
