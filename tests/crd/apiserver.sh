#!/usr/bin/env bash
# apiserver.sh DUMP_MANIFESTS: sends every manifest of the golden table to a real apiserver that has
# the CRD of this tree, and compares the verdicts with those of `pstrain validate` and the words
# with those of docs/reference (table.py). 77 where no apiserver can run or none is built.
set -euo pipefail
dump=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

work=$(mktemp -d)
export PSTRAIN_E2E_STATE=$work/cluster
PSTRAIN_E2E_PORT=$("$root/e2e/cluster/free_ports.py" 5)
export PSTRAIN_E2E_PORT
# shellcheck source=e2e/cluster/lib/common.sh
. "$root/e2e/cluster/lib/common.sh"
# shellcheck source=e2e/cluster/lib/go.sh
. "$root/e2e/cluster/lib/go.sh"
# shellcheck source=e2e/can_run.sh
. "$root/e2e/can_run.sh"

build_tools=$root/e2e/cluster/build-tools.sh
reason=$(why_no_api "$build_tools" "${api_tools[@]}")
if [[ -z $reason && -n $("$build_tools" --missing "${api_tools[@]}") ]]; then
  reason="the programs are not built (e2e/cluster/build-tools.sh ${api_tools[*]})"
fi
if [[ -n $reason ]]; then
  rm -r "$work"
  echo "SKIPPED: $reason"
  exit 77
fi

trap '"$root/e2e/cluster/cluster.sh" down; rm -rf "$work"' EXIT
"$root/e2e/cluster/cluster.sh" up --api-only >"$work/up"
"$dump" "$root/tests/golden/manifests" "$root/crds/pstrain.dev_pstrainingjobs.yaml" >"$work/manifests"
python3 "$root/tests/crd/table.py" "https://127.0.0.1:$port" "$state/pki" "$work/manifests" \
  "$root/docs/reference/pstrainingjob.md"
