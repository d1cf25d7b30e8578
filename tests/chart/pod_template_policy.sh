#!/usr/bin/env bash
# pod_template_policy.sh YAML_TO_JSON: what a real apiserver says to jobs under the chart's
# ValidatingAdmissionPolicy (pod_template_policy.py). 77 where no apiserver can run or none is built.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
more_tools=(helm)
# shellcheck source=tests/crds/api_only.sh
. "$root/tests/crds/api_only.sh"
"$bin/helm" template pstrain "$root/helm/pstrain" --set podTemplatePolicy.enabled=true \
  --set 'podTemplatePolicy.serviceAccountNames={default,trainer}' | "$1" >"$work/objects"
python3 "$root/tests/chart/pod_template_policy.py" "https://127.0.0.1:$port" "$state/pki" "$work/objects"
