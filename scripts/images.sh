#!/usr/bin/env bash
# images.sh [--push REGISTRY] [PRESET [DIR]]: builds the programs (PRESET defaults to release) and
# packs them, with the libraries that they need and nothing else, into the images that helm/pstrain
# and the jobs in examples name: DIR/operator.tar, DIR/runtime.tar, DIR/custom-training.tar and
# DIR/sharded-embedding.tar (default build/images). DIR/NAME.spdx.json beside each says what is in it
# (SPDX). Needs neither registry nor daemon. With --push they go to REGISTRY, HOST[:PORT][/PATH],
# which is what `image.registry` of the chart takes; scripts/push_image.py says how it logs in.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

registry=
if [[ ${1-} == --push ]]; then
  registry=${2:?--push needs a registry, HOST[:PORT][/PATH]}
  shift 2
fi
preset=${1:-release}
out=${2:-build/images}
version=$(sed -n 's/^project(pstrain VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
programs=build/$preset/bin

scripts/install-deps.sh --images
scripts/build.sh "$preset" pstrain-operator pstrain-agent pstrain-runtime custom_training \
  sharded_embedding >&2
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Names are resolved by DNS, as in any other container.
echo "hosts: files dns" >"$work/nsswitch.conf"

# image NAME PROGRAM...: the first program is the entrypoint.
image() {
  local name=$1 program with_libs=()
  shift
  for program in "$@"; do with_libs+=(--with-libs "$programs/$program:/usr/bin/$program"); done
  python3 scripts/image_archive.py --ref "pstrain/$name:$version" --out "$out/$name.tar" \
    --add "$work/nsswitch.conf:/etc/nsswitch.conf" "${with_libs[@]}" --entrypoint "/usr/bin/$1"
  echo "$out/$name.tar: pstrain/$name:$version"
  python3 -B scripts/image_sbom.py "$out/$name.tar" --version "$version" --out "$out/$name.spdx.json"
  archives+=("$out/$name.tar")
}
archives=()
image operator pstrain-operator
image runtime pstrain-agent pstrain-runtime
image custom-training pstrain-agent custom_training
image sharded-embedding pstrain-agent sharded_embedding
if [[ -n $registry ]]; then python3 -B scripts/push_image.py "$registry" "${archives[@]}"; fi
