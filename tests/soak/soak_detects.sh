#!/usr/bin/env bash
# soak_detects.sh ROOT: the soak fails for a job with wrong counts, one that fails, one that hangs,
# and for memory, descriptors and folders that grow; stand-ins take the place of pstrain and its
# programs.
set -euo pipefail
cd "$1"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"

# soak BODY: runs the soak with a pstrain that does BODY, where $n is 0 for the first job, 1 for the
# next, and $volume is the job's folder of checkpoints; its output, and "rc N" as the last line.
soak() {
  cat >"$scratch/bin/pstrain" <<END
#!/bin/sh
while [ \$# -gt 1 ]; do shift; done
mkdir "\$1"
volume=\$1/../volume
n=\$(cat "$scratch/count" 2>/dev/null || echo 0)
echo \$((n + 1)) >"$scratch/count"
$1
END
  chmod +x "$scratch/bin/pstrain"
  rm -f "$scratch/count"
  local rc=0
  TMPDIR=$scratch PSTRAIN_SOAK_LIMIT_S=$limit PSTRAIN_SOAK_EVERY_S=0.1 python3 tests/soak/soak.py \
    --bin "$scratch/bin" --minutes 0.001 --seed 1 --kinds= 2>&1 || rc=$?
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

limit=4
counts='"examples_expected": 5, "examples_committed": 5, "applied_min": 5, "applied_max"'
expect "a good job" "rc 0" "echo '{$counts: 5}'"
expect "an example applied twice" "the counts differ" "echo '{$counts: 6}'"
expect "an unknown count" "the counts differ" "echo '{\"examples_expected\": 5}'"
expect "a failed job" "has failed with 1" "exit 1"
expect "a job that hangs" "did not end within 4 s" "exec sleep 60"

limit=60
good="echo '{$counts: 5}'"
# many N DO: DO for $i from 1 to N.
many() { echo "i=0; while [ \$i -lt $1 ]; do i=\$((i + 1)); $2; done"; }
expect "a temporary file" "has left" "touch \"\$volume/a.tmp\"; $good"
expect "checkpoints that stay" "has left.*30 folders of checkpoints" \
  "$(many 30 'mkdir "$volume/1-$i"'); $good"
expect "files that grow" "grown: files file-N: 0 -> 100" \
  "$(many '$((n * 100))' 'touch "$volume/file-$i"'); $good"

# Without one of the tools for them there are no namespaces, and the soak begins all the same.
mkdir "$scratch/tools"
for tool in bash dirname env ip unshare; do ln -s "$(command -v "$tool")" "$scratch/tools/$tool"; done
printf '#!/bin/sh\necho "$@"\n' >"$scratch/tools/python3"
chmod +x "$scratch/tools/python3"
output=$(PATH=$scratch/tools PSTRAIN_SOAK_BUILD=$scratch scripts/soak.sh 1 1 2>&1 || true)
if [[ $output != *"--seed 1" ]]; then
  printf 'soak_detects: without iptables: %s\n' "$output"
  exit 1
fi

# with PROGRAM COMMANDS: a replica of that program, which does COMMANDS, in bash, and stays a second.
with() {
  cp "$(command -v bash)" "$scratch/bin/$1"
  cat <<END
export TF_CONFIG='{"cluster": {}, "task": {"type": "ps", "index": 0}}'
n=\$n "$scratch/bin/$1" -c '$2; sleep 1; :'
$good
END
}
# hold N: bash that takes N times 100 kB and keeps them. One string of the whole size would pass
# through two or three copies of itself, which one job shows and the next does not.
hold() { echo "for ((i = 0; i < $1; i++)); do printf -v x\$i %100000s; done"; }
expect "memory that stays" "rc 0" "$(with pstrain-runtime "$(hold 800)")"
expect "memory that grows" "grown: memory of ps: " \
  "$(with pstrain-runtime "$(hold '(n * 800)')")"
expect "memory of agents that grows" "grown: memory of ps's agent: " \
  "$(with pstrain-agent "$(hold '(n * 800)')")"
expect "descriptors that grow" "grown: descriptors of ps: " \
  "$(with pstrain-runtime 'for ((i = 0; i < n * 80; i++)); do exec {fd}</dev/null; done')"

# The table of faults: a run that was interrupted goes on, with another build it begins at the start.
python3 - "$scratch" <<'EOF'
import os
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
if [fault for _, _, fault in fault_table.Results(options).wrong] != ["hangs",
                                                                     "the counts differ: 5 and 6"]:
    sys.exit("soak_detects: what went wrong is forgotten when it is tried again")
(options.bin / "pstrain-runtime").write_text("another build")
if fault_table.Results(options).cells:
    sys.exit("soak_detects: the table takes what another build gave")

# Each pair of roles that speak has a row for each direction, and each role one for its files.
for other, roles in (("the chief", ("ps", "worker", "evaluator")), ("ps 0", ("worker",))):
    for text in (f"nothing of it reaches {other} for ever", f"nothing of {other} reaches it for ever"):
        if not any(row[0] == text and set(roles) <= set(row[2]) for row in fault_table.ROWS):
            sys.exit(f"soak_detects: no row \"{text}\" for {roles}")
for role in fault_table.ROLES:
    if not any("calls on files" in row[0] and role in row[2] for row in fault_table.ROWS):
        sys.exit(f"soak_detects: no row of the files of {role}")
if len({row[0] for row in fault_table.ROWS}) != len(fault_table.ROWS):
    sys.exit("soak_detects: two rows of one name: results are kept by name")

# A fault whose end is seen only as it goes is continued until it has ended, and undone.
import faults
import replicas

rules = []
faults._iptables = lambda action, rule: rules.append(action) or True
listener = types.SimpleNamespace(name="ps-1", port=lambda: "7", running=iter((1, 1, 0)).__next__)
if len(list(faults.refuse_connections(listener, 60))) != 2 or rules != ["-A", "-D"]:
    sys.exit(f"soak_detects: refused connections are not taken again when the listener ends: {rules}")
if not replicas.Process(os.getpid(), "", "ps", 0, {}).running():
    sys.exit("soak_detects: this process does not run")

# --check: a table that lacks a fault or a role, or has a cell that no job can have given.
options.table = scratch / "faults.md"
cells = {(row, role): cell for row, (_, _, roles) in enumerate(fault_table.ROWS) for role in roles}
fault_table.write_table(options, cells, 1)
fault_table.check_table(options)
good = options.table.read_text()
fault_table.write_table(options, cells, 1, [("the process is killed", "ps", "hangs")])
if "- ps: the process is killed: hangs" not in options.table.read_text():
    sys.exit("soak_detects: the table does not name what went wrong before")
survives, empty = "| survives, 0 s later |", "|  |"
for what, bad in (
        ("a fault is missing", good.replace("| the process is killed |", "| it is gone |")),
        ("a line is missing", "\n".join(good.splitlines()[:-1])),
        ("a role is missing", good.replace(" evaluator |", "", 1)),
        ("a job hangs", good.replace("survives, 0 s later", "**hangs**", 1)),
        ("a cell is empty", good.replace(survives, empty, 1)),
        ("a cell is of a role without that fault", good.replace(empty, survives, 1)),
        ("a cell says nothing", good.replace("survives, 0 s later", "fine", 1)),
        ("the text above it is another one", good.replace("one fault each", "one fault", 1)),
        ("a job went wrong before", good + f"\n{fault_table.AGAIN}\n\n- ps: it is gone: hangs\n"),
        ("a failure has no reason", good.replace("survives, 0 s later", "fails after 3 s: ", 1))):
    if bad == good:
        sys.exit(f"soak_detects: nothing was changed for: {what}")
    options.table.write_text(bad)
    try:
        fault_table.check_table(options)
    except SystemExit:
        continue
    sys.exit(f"soak_detects: the table is taken though {what}")

# Of the cells that are not known those that --only names, the longest jobs first.
wanted = [(row, role) for row, (_, _, roles) in enumerate(fault_table.ROWS) for role in roles]
texts = [text for text, _, _ in fault_table.ROWS]
killed, paused = texts.index("the process is killed"), texts.index("the process is paused for 60 s")
options.only = fault_table.re.compile("^ps: the process is")
found = fault_table._open_cells(options, wanted, {(killed, "ps"): cell})
if found[0] != (paused, "ps") or (killed, "ps") in found or {role for _, role in found} != {"ps"}:
    sys.exit(f"soak_detects: --only takes {found}")
options.only = fault_table.re.compile("^ps: nobody has heard of it")
try:
    fault_table._open_cells(options, wanted, {})
except SystemExit:
    sys.exit(0)
sys.exit("soak_detects: --only takes what names no cell")
EOF
