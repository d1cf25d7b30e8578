#!/usr/bin/env bash
# run.sh OPERATOR [--quick | --only MEASURE]: starts a cluster with fake nodes, measures the program
# OPERATOR (pstrain-operator) there and removes the cluster. Called by bench/run.sh; 77 where no such
# cluster can run.
#   PSTRAIN_E2E_DIR   as for e2e/cluster/cluster.sh
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
operator=$(realpath "$1")
shift
scratch=$(mktemp -d)
export PSTRAIN_E2E_STATE=$scratch/cluster
# Beside a cluster that somebody else has started.
# shellcheck source=e2e/cluster/lib/ports.sh
. "$root/e2e/cluster/lib/ports.sh"
claim_ports 5
export PSTRAIN_E2E_PORT=$claimed_port
# shellcheck source=e2e/cluster/lib/common.sh
. "$root/e2e/cluster/lib/common.sh"
# shellcheck source=e2e/cluster/lib/go.sh
. "$root/e2e/cluster/lib/go.sh"
# shellcheck source=e2e/cluster/lib/keys.sh
. "$root/e2e/cluster/lib/keys.sh"
# shellcheck source=e2e/can_run.sh
. "$root/e2e/can_run.sh"

trap '"$root/e2e/cluster/cluster.sh" down; rm -rf "$scratch"' EXIT
reason=$(why_no_api "$root/e2e/cluster/build-tools.sh" "${fake_node_tools[@]}")
if [[ -n $reason ]]; then
  echo "SKIPPED: $reason" >&2
  exit 77
fi
"$root/e2e/cluster/build-tools.sh" "${fake_node_tools[@]}" >&2
"$root/e2e/cluster/cluster.sh" up --kwok 20 --audit "$root/bench/operator/audit-policy.yaml" >&2
for user in bench operator-a operator-b; do
  cert "$user" "/O=system:masters/CN=$user"
  kubeconfig_for "$user" "https://127.0.0.1:$port" "$state/$user.kubeconfig"
done
python3 "$root/bench/operator/measure.py" --state "$state" --port "$port" --operator "$operator" \
  --crd "$root/crds/pstrain.dev_pstrainingjobs.yaml" "$@"
