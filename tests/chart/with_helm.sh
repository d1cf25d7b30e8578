#!/usr/bin/env bash
# with_helm.sh SCRIPT.py ARGUMENTS...: runs a script of this folder as SCRIPT.py ROOT HELM
# ARGUMENTS... 77 where no Helm is built, unless PSTRAIN_REQUIRE_CLUSTER is set.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=e2e/cluster/lib/common.sh
. "$root/e2e/cluster/lib/common.sh"

if [[ ! -x $bin/helm ]]; then
  echo "SKIPPED: Helm is not built (e2e/cluster/build-tools.sh helm)"
  if [[ -n ${PSTRAIN_REQUIRE_CLUSTER:-} ]]; then exit 1; fi
  exit 77
fi
exec python3 -B "$root/tests/chart/$1" "$root" "$bin/helm" "${@:2}"
