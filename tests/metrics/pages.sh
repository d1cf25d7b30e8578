#!/usr/bin/env bash
# pages.sh BIN SERVE_FAKE_APISERVER: pages.py, with promtool. 77 where that is not built, unless
# PSTRAIN_REQUIRE_CLUSTER is set.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=e2e/cluster/lib/common.sh
. "$root/e2e/cluster/lib/common.sh"

if [[ ! -x $bin/promtool ]]; then
  echo "SKIPPED: promtool is not built (e2e/cluster/build-tools.sh promtool)"
  if [[ -n ${PSTRAIN_REQUIRE_CLUSTER:-} ]]; then exit 1; fi
  exit 77
fi
exec python3 -B "$root/tests/metrics/pages.py" "$root" "$@" "$bin/promtool"
