#!/usr/bin/env bash
# soak.sh MINUTES SEED: trains small jobs one after the other on this machine and makes a random
# fault every 3 s: a killed process or replica, a stopped process or agent, SIGTERM, a ps or the chief
# that cannot be reached in one direction, one link that loses one direction, bad weather for all
# packets, calls on files that fail, a full disk. Fails when a job does not end in time, when its
# counts are not exact, or when memory, descriptors or files grow from job to job. SEED starts the
# random numbers. Prints one line of JSON per job and one at the end.
#   PSTRAIN_SOAK_BUILD    a build folder to use instead of build/release, which is built otherwise
#   PSTRAIN_SOAK_LIMIT_S  the time that one job may take, faults in its first half (default 600)
# Links are cut and disks filled in namespaces of its own, for which it needs root. It says what the
# machine or the build lets it not do, and leaves that out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($# != 2)) || [[ ! $1 =~ ^[1-9][0-9]*$ || ! $2 =~ ^[0-9]+$ ]]; then
  sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
build=${PSTRAIN_SOAK_BUILD:-}
if [[ -z $build ]]; then
  scripts/install-deps.sh
  scripts/build.sh release pstrain pstrain-agent pstrain-runtime failing_calls >&2
  build=build/release
fi
soak=(python3 tests/soak/soak.py --bin "$build/bin" --minutes "$1" --seed "$2")
has_all() {
  local tool
  for tool in "$@"; do command -v "$tool" >/dev/null || return 1; done
}
if ((EUID == 0)) && has_all iptables unshare ip; then
  exec unshare --mount --net -- bash -c 'ip link set lo up && exec "$@"' soak \
    "${soak[@]}" --namespaces
fi
exec "${soak[@]}"
