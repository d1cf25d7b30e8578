# A running job is deleted, in the foreground and in the background; nothing of it remains.

run_case() {
  make_volumes
  local way
  for way in foreground background; do
    adult_job "[$(epochs 200)]" | k apply -f - >/dev/null
    phase_is Running 120
    k delete "pstj/$job" --cascade="$way" --wait --timeout=120s
    until_is 120 '' remains
  done
}

# What a job makes, apart from what was in the namespace before.
remains() {
  k get pods,services,configmaps,pstj -o name | grep -Ev '^configmap/(kube-root-ca.crt|adult-data)$' || true
}
