#!/usr/bin/env bash
# e2e_run_detects.sh ROOT: e2e/run.sh passes when all cases do, fails when one does, and fails when a
# signal ends it, whatever it does at that moment and however the cases before have ended; it removes
# its cluster then. A second run does not touch the cluster of the first. Cluster, cases and programs are stand-ins.
set -euo pipefail
# Job control: a process in the background of a script would not hear of SIGINT otherwise.
set -m
root=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

tree=$scratch/tree
mkdir -p "$scratch/bin" "$tree/e2e/"{cases,cluster/lib} "$tree/scripts"
cp "$root/e2e/run.sh" "$root/e2e/lib.sh" "$tree/e2e/"
cp "$root/e2e/cluster/lib/common.sh" "$tree/e2e/cluster/lib/"
cat >"$tree/e2e/can_run.sh" <<'STAND_IN'
node_tools=()
why_no_nodes() { :; }
STAND_IN
cat >"$tree/e2e/images.sh" <<'STAND_IN'
make_images() { :; }
make_own_program_image() { :; }
make_root_image() { :; }
STAND_IN
touch "$tree/e2e/operator.sh" "$tree/e2e/cluster/lib/go.sh"

# tool PATH: a call that has $HOLD in it lasts until the signal was sent.
tool() {
  cat >"$1" <<'STAND_IN'
#!/usr/bin/env bash
call="$(basename "$0") $*"
echo "$call" >>"$CALLS"
if [[ -n $HOLD && $call == *"$HOLD"* && -e $ARMED ]]; then
  touch "$HELD"
  for _ in {1..600}; do
    [[ ! -e $SENT ]] || break
    sleep 0.05
  done
fi
if [[ $call == *"get serviceaccount default"* ]]; then echo default; fi
STAND_IN
  chmod +x "$1"
}
tool "$scratch/bin/kubectl"
tool "$tree/scripts/build.sh"
tool "$tree/e2e/cluster/build-tools.sh"
tool "$tree/e2e/cluster/cluster.sh"
# What is to hold may do so from here on: the first case is over.
case_of() { # NAME BODY
  printf '# operator: none\nrun_case() { touch "$ARMED"; %s; }\n' "$2" >"$tree/e2e/cases/$1.sh"
}
case_of passes true
case_of fails false
case_of waits 'kubectl wait for ever'

export CALLS=$scratch/calls ARMED=$scratch/armed HELD=$scratch/held SENT=$scratch/sent HOLD=''
export PSTRAIN_E2E_LOGS=$scratch/logs PSTRAIN_E2E_DIR=$scratch/cache TMPDIR=$scratch
PATH=$scratch/bin:$PATH
failures=0

# expect STATUS SIGNAL CASE...: with a signal, it comes when a call with $HOLD is made.
expect() {
  local wanted=$1 signal=$2 status=0 pid
  shift 2
  rm -f "$CALLS" "$ARMED" "$HELD" "$SENT"
  bash "$tree/e2e/run.sh" "$@" >"$scratch/output" 2>&1 &
  pid=$!
  if [[ -n $signal ]]; then
    for _ in {1..600}; do
      [[ ! -e $HELD ]] || break
      sleep 0.05
    done
    kill "-$signal" "$pid"
    touch "$SENT"
  fi
  wait "$pid" || status=$?
  local downs
  downs=$(grep -c '^cluster.sh down' "$CALLS")
  if [[ $status == "$wanted" && $downs == 2 ]] && { [[ -z $signal ]] || [[ -e $HELD ]]; }; then return; fi
  echo "run.sh $* with SIG$signal at '$HOLD': status $status, expected $wanted; $downs times down"
  cat "$scratch/output"
  failures=$((failures + 1))
}

expect 0 '' passes
expect 1 '' passes fails
expect 1 '' fails passes
for HOLD in 'kubectl wait' 'kubectl delete namespace' 'kubectl --namespace e2e-fails get pstj' \
  'cluster.sh down'; do
  expect 130 TERM fails waits
  expect 130 INT fails waits
  expect 129 HUP fails waits
done 2>/dev/null
HOLD='kubectl wait'
expect 130 TERM passes waits 2>/dev/null

# A second run leaves the cluster of the first one alone.
rm -f "$CALLS" "$ARMED" "$HELD" "$SENT"
bash "$tree/e2e/run.sh" waits >"$scratch/output" 2>&1 &
pid=$!
for _ in {1..600}; do
  [[ ! -e $HELD ]] || break
  sleep 0.05
done
calls=$(cat "$CALLS")
status=0
HOLD='' bash "$tree/e2e/run.sh" passes >"$scratch/second" 2>&1 || status=$?
if [[ $status != 1 ]] || ! grep -q 'another e2e/run.sh, process' "$scratch/second" ||
  [[ $(grep -c '^cluster.sh' "$CALLS") != $(grep -c '^cluster.sh' <<<"$calls") ]]; then
  echo "a second run ends with $status:"
  cat "$scratch/second" "$CALLS"
  failures=$((failures + 1))
fi
touch "$SENT"
wait "$pid" || true
((failures == 0)) || exit 1
echo "a run that is ended by a signal has failed, and a second one stays out"
