# Starts an apiserver of its own on loopback for a test, and stops it when the test ends. To be sourced
# by a test that has set `root`; exits 77 where none can run or none is built. Gives `work`, `port`,
# `state` and `bin`.
# shellcheck shell=bash disable=SC2154 # root

work=$(mktemp -d)
export PSTRAIN_E2E_STATE=$work/cluster
# shellcheck source=e2e/cluster/lib/ports.sh
. "$root/e2e/cluster/lib/ports.sh"
claim_ports 5
export PSTRAIN_E2E_PORT=$claimed_port
# shellcheck source=e2e/cluster/lib/common.sh
. "$root/e2e/cluster/lib/common.sh"
# shellcheck source=e2e/cluster/lib/go.sh
. "$root/e2e/cluster/lib/go.sh"
# shellcheck source=e2e/can_run.sh
. "$root/e2e/can_run.sh"

build_tools=$root/e2e/cluster/build-tools.sh
reason=$(why_no_api "$build_tools" "${api_tools[@]}")
if [[ -z $reason && -n $("$build_tools" --missing "${api_tools[@]}" "${more_tools[@]}") ]]; then
  reason="the programs are not built (e2e/cluster/build-tools.sh ${api_tools[*]} ${more_tools[*]})"
fi
if [[ -n $reason ]]; then
  rm -r "$work"
  echo "SKIPPED: $reason"
  exit 77
fi

trap '"$root/e2e/cluster/cluster.sh" down; rm -rf "$work"' EXIT
"$root/e2e/cluster/cluster.sh" up --api-only >"$work/up"
