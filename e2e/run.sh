#!/usr/bin/env bash
# run.sh [--tools] CASE...|all: runs cases of cases/ on a real Kubernetes cluster on this machine,
# which it builds (once, into a cache), starts and removes again. Prints one line for each case with
# its time, below it what the case has measured, and at the end `N passed, N failed`; fails when a
# case does. Where no cluster can run it prints `0 passed, 0 failed, N skipped: REASON` and exits 77.
# With --tools it only builds the programs of the cluster.
#
# PSTRAIN_E2E_PRESET   the build whose programs are tested, default release
# PSTRAIN_E2E_KEEP     set: the cluster stays when the cases are done, and so do the namespaces and
#                      volumes of failed cases; `e2e/cluster/cluster.sh down` removes it
# PSTRAIN_E2E_LOGS     directory for the logs and objects of failed cases, default build/e2e
# and those of cluster/cluster.sh
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=e2e/cluster/lib/common.sh
. "$root/e2e/cluster/lib/common.sh"
# shellcheck source=e2e/cluster/lib/go.sh
. "$root/e2e/cluster/lib/go.sh"
# shellcheck source=e2e/can_run.sh
. "$root/e2e/can_run.sh"
# shellcheck source=e2e/lib.sh
. "$root/e2e/lib.sh"
# shellcheck source=e2e/operator.sh
. "$root/e2e/operator.sh"

# The value of a line `# NAME: VALUE` at the head of a case.
case_setting() { sed -n "s/^# $2: //p;/^[^#]/q" "$root/e2e/cases/$1.sh"; } # CASE NAME

tools_only=''
if [[ ${1:-} == --tools ]]; then
  tools_only=1
  shift
fi
cases=()
for name in "$@"; do
  if [[ $name == all ]]; then
    for file in "$root"/e2e/cases/*.sh; do cases+=("$(basename "$file" .sh)"); done
  elif [[ -f $root/e2e/cases/$name.sh ]]; then
    cases+=("$name")
  else
    die "there is no case '$name'"
  fi
done
((${#cases[@]} > 0)) || die "which case? all, or of: $(cd "$root/e2e/cases" && echo *.sh | sed 's/\.sh//g')"

reason=$(why_no_nodes "$root/e2e/cluster/build-tools.sh")
if [[ -n $reason ]]; then
  echo "0 passed, 0 failed, ${#cases[@]} skipped: $reason"
  exit 77
fi

nodes=1
tools=("${node_tools[@]}")
with_operator=''
for name in "${cases[@]}"; do
  wanted=$(case_setting "$name" nodes)
  ((${wanted:-1} <= nodes)) || nodes=$wanted
  # shellcheck disable=SC2207 # words
  tools+=($(case_setting "$name" tools))
  [[ $(case_setting "$name" operator) == none ]] || with_operator=1
done
if [[ -n $with_operator ]]; then tools+=(helm); fi

preset=${PSTRAIN_E2E_PRESET:-release}
programs=$root/build/$preset/bin
"$root/e2e/cluster/build-tools.sh" "${tools[@]}" >&2
[[ -z $tools_only ]] || exit 0
"$root/scripts/build.sh" "$preset" pstrain >&2
export PATH=$bin:$PATH

# The cluster of another run is not torn down under it. A lock would be held on by whatever outlives
# a run that was killed.
mkdir -p "$(dirname "$state")"
owner=$(cat "$state.owner" 2>/dev/null || true)
if [[ -n $owner ]] && grep -qs 'e2e/run\.sh' "/proc/$owner/cmdline"; then
  die "another e2e/run.sh, process $owner, has the cluster in $state; wait for its end, or set PSTRAIN_E2E_STATE to another folder"
fi
echo $$ >"$state.owner"

work=$(mktemp -d)
logs=${PSTRAIN_E2E_LOGS:-$root/build/e2e}
mkdir -p "$logs"
clean_up() {
  if [[ -n ${PSTRAIN_E2E_KEEP:-} ]]; then
    echo "kept: the cluster, KUBECONFIG=$(cluster kubeconfig), and $work" >&2
    return
  fi
  cluster down
  rm -rf "$work" "$state.owner"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# shellcheck source=e2e/images.sh
. "$root/e2e/images.sh"
make_images
make_own_program_image
make_root_image
cluster down
cluster up --nodes "$nodes" --audit "$root/e2e/cluster/audit.yaml" >/dev/null
KUBECONFIG=$(cluster kubeconfig)
export KUBECONFIG
cluster load-image "$work/runtime.tar" "$work/custom-training.tar" "$work/own-program.tar" \
  "$work/root.tar"
if [[ -n $with_operator ]]; then
  cluster load-image "$work/operator.tar"
  install_operator
fi

# Saves the objects and logs of a failed case.
collect() { # CASE
  local out=$logs/$1
  mkdir -p "$out"
  k get pstj,pods,events,pvc -o wide >"$out/objects" 2>&1 || true
  k get pstj,pods,configmaps,services -o yaml >"$out/objects.yaml" 2>&1 || true
  local pod
  for pod in $(k get pods -o name 2>/dev/null); do
    k logs "$pod" >"$out/${pod#pod/}.log" 2>&1 || true
  done
  [[ -z $with_operator ]] || operator_logs >"$out/operator.log" 2>&1 || true
}

passed=0
failed=0
for name in "${cases[@]}"; do
  namespace=e2e-${name//_/-}
  begun=$EPOCHREALTIME
  verdict=ok
  : >"$work/report"
  # A case in a process of its own: `set -e` holds in it, and what it sets goes with it.
  set +e
  (
    set -e
    # shellcheck source=/dev/null # one of cases/*.sh
    . "$root/e2e/cases/$name.sh"
    make_namespace "$namespace"
    run_case
  ) >"$logs/$name.log" 2>&1
  rc=$?
  set -e
  if ((rc == 0)); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    verdict=FAIL
    collect "$name"
  fi
  printf '%-4s %-28s %7.1f s\n' "$verdict" "$name" "$(seconds_between "$EPOCHREALTIME" "$begun")"
  sed 's/^/     /' "$work/report"
  ((rc == 0)) || sed 's/^/     | /' <(tail -n 15 "$logs/$name.log")
  if ((rc != 0)) && [[ -n ${PSTRAIN_E2E_KEEP:-} ]]; then continue; fi
  kubectl delete namespace "$namespace" --wait --timeout=120s >/dev/null 2>&1 || true
  kubectl delete pv "$namespace-adult-checkpoints" --ignore-not-found >/dev/null 2>&1 || true
done
echo "$passed passed, $failed failed"
((failed == 0))
