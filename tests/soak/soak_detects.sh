#!/usr/bin/env bash
# soak_detects.sh ROOT: the soak fails for a job with wrong counts, one that fails, and one that
# hangs; stand-ins take the place of pstrain.
set -euo pipefail
cd "$1"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"

# soak BODY: runs the soak with a pstrain that does BODY; its output, and "rc N" as the last line.
soak() {
  printf '#!/bin/sh\n%s\n' "$1" >"$scratch/bin/pstrain"
  chmod +x "$scratch/bin/pstrain"
  local rc=0
  TMPDIR=$scratch PSTRAIN_SOAK_LIMIT_S=4 python3 tests/soak/soak.py --bin "$scratch/bin" \
    --minutes 0.001 --seed 1 2>&1 || rc=$?
  echo "rc $rc"
}

# expect WHAT PATTERN BODY
expect() {
  local output
  output=$(soak "$3")
  if ! grep -q -- "$2" <<<"$output"; then
    printf 'soak_detects: %s: no "%s" in:\n%s\n' "$1" "$2" "$output"
    exit 1
  fi
}

counts='"examples_expected": 5, "examples_committed": 5, "applied_min": 5, "applied_max"'
expect "a good job" "rc 0" "echo '{$counts: 5}'"
expect "an example applied twice" "the counts differ" "echo '{$counts: 6}'"
expect "an unknown count" "the counts differ" "echo '{\"examples_expected\": 5}'"
expect "a failed job" "has failed with 1" "exit 1"
expect "a job that hangs" "did not end within 4 s" "exec sleep 60"
expect "a temporary file" "has left" \
  "while [ \$# -gt 1 ]; do shift; done; mkdir -p \"\$1/../volume\"; touch \"\$1/../volume/a.tmp\"; echo '{$counts: 5}'"

# The table of faults: a run that was interrupted goes on, with another build it begins at the start.
python3 - "$scratch" <<'EOF'
import pathlib
import sys
import types

sys.path.insert(0, "tests/soak")
sys.dont_write_bytecode = True
import fault_table

scratch = pathlib.Path(sys.argv[1])
options = types.SimpleNamespace(bin=scratch / "bin", results=scratch / "new" / "faults.jsonl")
(options.bin / "pstrain-runtime").write_text("one build")
cell = {"seconds": 1, "after": 1, "fault": None}
fault_table.Results(options).add("the process is killed", "ps", cell)
for fault in ("hangs", "the counts differ: 5 and 6"):
    fault_table.Results(options).add("the process is killed", "worker", cell | {"fault": fault})
if fault_table.Results(options).cells != {("the process is killed", "ps"): cell}:
    sys.exit("soak_detects: the table forgets what was found, or keeps what went wrong")
(options.bin / "pstrain-runtime").write_text("another build")
if fault_table.Results(options).cells:
    sys.exit("soak_detects: the table takes what another build gave")

# --check: a table that lacks a fault, or has a job that hangs.
options.table = scratch / "faults.md"
cells = {(row, role): cell for row, (_, _, roles) in enumerate(fault_table.ROWS) for role in roles}
fault_table.write_table(options, cells, 1)
fault_table.check_table(options)
good = options.table.read_text()
for what, bad in (("a fault is missing", good.replace("| the process is killed |", "| it is gone |")),
                  ("a job hangs", good.replace("survives, 0 s later", "**hangs**", 1))):
    options.table.write_text(bad)
    try:
        fault_table.check_table(options)
    except SystemExit:
        continue
    sys.exit(f"soak_detects: the table is taken though {what}")
EOF
