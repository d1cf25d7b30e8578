#!/usr/bin/env bash
# processes.sh SOURCE: what e2e/cluster/lib/processes.sh says of a process whose first thread has
# ended while another one runs. The kernel calls it a zombie, but its sockets are open: whoever takes
# it for gone and starts its successor finds the port taken.
set -euo pipefail
state=$(mktemp -d)
trap 'kill -KILL "$pid" 2>/dev/null || true; rm -rf "$state"' EXIT
mkdir "$state/run" "$state/log"
# shellcheck source=../../e2e/cluster/lib/processes.sh
source "$1/e2e/cluster/lib/processes.sh"

fail() { echo "$*" >&2; exit 1; }

launch half-ended - python3 -c '
import ctypes, threading, time
threading.Thread(target=lambda: time.sleep(600)).start()
ctypes.CDLL(None).pthread_exit(None)'
read -r pid _ <"$state/run/half-ended.pid"
for _ in {1..100}; do
  [[ $(sed 's/.*) //' "/proc/$pid/stat" | cut -c1) != Z ]] || break
  sleep 0.1
done
[[ $(sed 's/.*) //' "/proc/$pid/stat" | cut -c1) == Z ]] || fail "the first thread has not ended"
[[ $(pid_of half-ended) == "$pid" ]] || fail "a process with a thread that runs is taken for gone"

stop half-ended KILL
[[ ! -e /proc/$pid/task || $(ls "/proc/$pid/task") == "$pid" ]] || fail "stop returned before the threads had ended"
echo "a process is gone when its last thread is"
