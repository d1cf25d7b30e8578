# Settings and small helpers of cluster.sh and build-tools.sh. To be sourced.
# shellcheck shell=bash disable=SC2034 # the variables are for those who source it

cache=${PSTRAIN_E2E_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pstrain/e2e}
bin=$cache/bin
state=${PSTRAIN_E2E_STATE:-$cache/cluster}
port=${PSTRAIN_E2E_PORT:-16443}
cni_bin=${PSTRAIN_E2E_CNI_BIN:-/usr/lib/cni}

die() { echo "$(basename "$0"): $*" >&2; exit 1; }
started=$EPOCHREALTIME
log() { printf '%6.1f s  %s\n' "$(seconds_between "$EPOCHREALTIME" "$started")" "$*" >&2; }
# Difference of two numbers of seconds.
seconds_between() { awk -v a="$1" -v b="$2" 'BEGIN { print a - b }'; }
# Content of a file of the cluster's state; nothing when it is not there.
get() { cat "$state/$1" 2>/dev/null || true; }
