#!/usr/bin/env bash
# ports.sh SOURCE: e2e/cluster/lib/ports.sh gives no port twice while its owner lives, none that
# somebody listens on, and none that `pstrain run` may take.
set -euo pipefail
# Where nobody else listens, if that can be had.
if ((EUID == 0)) && [[ -z ${ALONE:-} ]]; then
  ALONE=1 exec unshare --net bash -c 'ip link set lo up && exec bash "$@"' _ "$0" "$@"
fi
TMPDIR=$(mktemp -d)
export TMPDIR
owners=()
trap 'kill "${owners[@]}" 2>/dev/null || true; rm -rf "$TMPDIR"' EXIT
lib=$1/e2e/cluster/lib/ports.sh

fail() { echo "$*" >&2; exit 1; }

# The owners of all blocks of 500 ports but one live until they are killed; each has a child that
# outlives its shell, as the programs of a cluster do.
for owner in 1 2 3 4 5 6 7; do
  bash -c '. "$1"; claim_ports 500 && echo "$claimed_port" >"$TMPDIR/$2"; exec sleep 600' _ "$lib" \
    "owner-$owner" &
  owners+=($!)
done
for owner in 1 2 3 4 5 6 7; do
  for _ in {1..300}; do
    [[ ! -s $TMPDIR/owner-$owner ]] || break
    sleep 0.1
  done
done
given=$(sort -n "$TMPDIR"/owner-*)
[[ $(wc -l <<<"$given") == 7 ]] || fail "not each of 7 owners has got ports: $given"
[[ $(sort -u <<<"$given" | wc -l) == 7 ]] || fail "two owners have the same ports: $given"
(($(head -n 1 <<<"$given") >= 6000 && $(tail -n 1 <<<"$given") + 500 <= 10240)) ||
  fail "ports out of the range: $given"

# shellcheck source=e2e/cluster/lib/ports.sh
. "$lib"
claim_ports 500
last=$claimed_port
if grep -qx "$last" <<<"$given"; then fail "$last belongs to another owner"; fi
if (claim_ports 500) 2>/dev/null; then fail "more ports than there are"; fi

# One that is gone leaves its ports, unless somebody listens there.
kill "${owners[0]}"
wait "${owners[0]}" || true
first=$(cat "$TMPDIR/owner-1")
[[ $(. "$lib"; claim_ports 500; echo "$claimed_port") == "$first" ]] || fail "$first is not free again"
python3 -c 'import socket, sys, time
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print(flush=True)
time.sleep(600)' "$((first + 499))" >"$TMPDIR/listens" &
owners+=($!)
for _ in {1..300}; do
  [[ ! -s $TMPDIR/listens ]] || break
  sleep 0.1
done
if (claim_ports 500) 2>/dev/null; then fail "ports on which somebody listens"; fi
echo "ports have one owner"
