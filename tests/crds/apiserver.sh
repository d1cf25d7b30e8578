#!/usr/bin/env bash
# apiserver.sh DUMP_MANIFESTS: sends every manifest of the golden table to a real apiserver that has
# the CRD of this tree, and compares the verdicts with those of `pstrain validate` and the words
# with those of docs/reference (table.py). 77 where no apiserver can run or none is built.
set -euo pipefail
dump=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

more_tools=()
# shellcheck source=tests/crds/api_only.sh
. "$root/tests/crds/api_only.sh"
"$dump" "$root/tests/golden/manifests" "$root/crds/pstrain.dev_pstrainingjobs.yaml" >"$work/manifests"
python3 "$root/tests/crds/table.py" "https://127.0.0.1:$port" "$state/pki" "$work/manifests" \
  "$root/docs/reference/pstrainingjob.md"
