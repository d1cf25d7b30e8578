#!/usr/bin/env bash
# rules.sh YAML_TO_JSON: the chart's rules under promtool (rules.py). 77 where Helm or promtool is not
# built, unless PSTRAIN_REQUIRE_CLUSTER is set.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=e2e/cluster/lib/common.sh
. "$root/e2e/cluster/lib/common.sh"

for tool in helm promtool; do
  if [[ -x $bin/$tool ]]; then continue; fi
  echo "SKIPPED: $tool is not built (e2e/cluster/build-tools.sh helm promtool)"
  if [[ -n ${PSTRAIN_REQUIRE_CLUSTER:-} ]]; then exit 1; fi
  exit 77
done
exec python3 -B "$root/tests/chart/rules.py" "$root" "$bin/helm" "$1" "$bin/promtool"
