# Replicas that speak TLS to each other, with a certificate from a Secret: the ports of the chief and
# of a ps answer nobody who speaks in the clear, show the job's certificate, and the job trains to its
# end with exact counts.

run_case() {
  make_volumes
  certificates "DNS:*.$job.$namespace.svc"
  k create secret generic certificates --from-file="$work/tls.crt" --from-file="$work/tls.key" \
    --from-file="$work/ca.crt" >/dev/null
  adult_job "[$(epochs 60), {\"op\": \"add\", \"path\": \"/spec/security\", \"value\":
    {\"tls\": {\"secretName\": \"certificates\"}}}]" | k apply -f - >/dev/null
  until_true 300 has_done 2
  local role
  for role in chief ps; do speaks_tls_alone "$(pod_of "$role" 0)" || return 1; done
  succeeds 300
}

# certificates NAMES: an authority and a certificate of it, as cert-manager makes them.
certificates() {
  local usage=keyUsage=digitalSignature extended=extendedKeyUsage=serverAuth,clientAuth
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=authority \
    -keyout "$work/ca.key" -out "$work/ca.crt" 2>/dev/null
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=replica \
    -keyout "$work/tls.key" -out "$work/tls.csr" 2>/dev/null
  openssl x509 -req -in "$work/tls.csr" -CA "$work/ca.crt" -CAkey "$work/ca.key" -CAcreateserial \
    -days 1 -out "$work/tls.crt" 2>/dev/null \
    -extfile <(printf '%s\n' "subjectAltName=$1" "$usage" "$extended")
}

speaks_tls_alone() { # POD
  local pid said
  pid=$(pids_in_pod "$1" pstrain-runtime | head -n 1)
  said=$(nsenter -t "$pid" -n openssl s_client -connect 127.0.0.1:2222 -alpn h2 </dev/null 2>&1) || true
  [[ $said == *"CN = replica"* ]] || fail "$1 shows no certificate of the job" || return 1
  # The beginning of HTTP/2 without TLS, which gRPC would answer with its settings.
  nsenter -t "$pid" -n python3 - <<'END' || fail "$1 answers in the clear"
import socket
with socket.create_connection(("127.0.0.1", 2222), timeout=20) as connection:
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0)))
    try:
        answer = connection.recv(64)
    except ConnectionResetError:
        answer = b""
    assert not answer or answer[0] == 0x15, answer  # nothing, or an alert of TLS
END
}
