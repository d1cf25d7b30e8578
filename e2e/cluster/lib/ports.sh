# Ports for a cluster beside others. To be sourced.
# shellcheck shell=bash

# claim_ports COUNT: sets `claimed_port` to the first of so many ports in a row on 127.0.0.1 that
# nobody listens on. Until this shell ends, and what it has started, no other claim_ports gives them:
# between a look at a port and the start of the program that binds it there are seconds. They lie
# below 10240, where `pstrain run` begins to take ports (local/replicas/ports.cc), and so below those
# that the kernel gives for port 0.
claim_ports() {
  local locks=${TMPDIR:-/tmp}/pstrain-ports-$UID first lock
  mkdir -p "$locks"
  while read -r first; do
    exec {lock}>"$locks/$first"
    if flock -n "$lock" && python3 -c '
import socket, sys
for port in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", port))
' "$first" "$1" 2>/dev/null; then
      claimed_port=$first
      return
    fi
    exec {lock}>&-
  done < <(seq 6000 "$1" $((10240 - $1)) | shuf)
  echo "claim_ports: no $1 free ports in a row from 6000 to 10239 on 127.0.0.1" >&2
  return 1
}
