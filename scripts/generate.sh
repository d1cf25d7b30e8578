#!/usr/bin/env bash
# generate.sh: writes the files of the tree that are made from others: crds/ from proto/psjob.proto.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/build.sh dev pstrain_crd_file >&2
cp build/dev/gen/pstrain.dev_pstrainingjobs.yaml crds/
