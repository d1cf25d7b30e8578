#!/usr/bin/env bash
# generate.sh: writes the files of the tree that are made from proto/job/psjob.proto: the CRD in
# crds/ and, for the chart, which must be whole by itself, in helm/, and the reference in docs/;
# docs/metrics.md, from the tables of metrics; and the chart's dashboards, from metrics/dashboards.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/build.sh dev pstrain_crd_file pstrain_metrics_file >&2
crd=pstrain.dev_pstrainingjobs.yaml
cp "build/dev/gen/$crd" crds/
cp --remove-destination "build/dev/gen/$crd" helm/pstrain/files/
mkdir -p docs/reference
cp build/dev/gen/pstrainingjob.md docs/reference/
cp build/dev/gen/metrics.md docs/
python3 -B metrics/dashboards/generate.py helm/pstrain/dashboards
