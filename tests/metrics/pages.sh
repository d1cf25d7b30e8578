#!/usr/bin/env bash
# pages.sh BIN SERVE_FAKE_APISERVER: pages.py, with promtool where it is built. Without it the pages
# are compared with docs/metrics.md and not linted, unless PSTRAIN_REQUIRE_CLUSTER is set.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=$1 apiserver=$2
# shellcheck source=e2e/cluster/lib/common.sh
. "$root/e2e/cluster/lib/common.sh"

promtool=$bin/promtool
if [[ ! -x $promtool ]]; then
  echo "NOT LINTED: promtool is not built (e2e/cluster/build-tools.sh promtool)"
  if [[ -n ${PSTRAIN_REQUIRE_CLUSTER:-} ]]; then exit 1; fi
  promtool=
fi
exec python3 -B "$root/tests/metrics/pages.py" "$root" "$programs" "$apiserver" "$promtool"
