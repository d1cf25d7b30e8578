# A running job is deleted: in the foreground and in the background, after which nothing of it
# remains, and as an orphan, after which all of it stays and is left alone.

run_case() {
  make_volumes
  local way
  for way in foreground background; do
    running_job
    k delete "pstj/$job" --cascade="$way" --wait --timeout=120s
    until_is 120 '' remains
  done
  running_job
  local before
  before=$(parts)
  k delete "pstj/$job" --cascade=orphan --wait --timeout=120s
  until_is 60 '' k get pods,services,configmaps -o 'jsonpath={.items[*].metadata.ownerReferences}'
  until_is 1 "$before" remains
  until_is 1 '' k get pods -o 'jsonpath={.items[*].metadata.deletionTimestamp}'
  k delete pods,services,configmaps -l "pstrain.dev/job-name=$job" --grace-period=1 --wait
  until_is 60 '' remains
}

running_job() {
  adult_job "[$(epochs 200)]" | k apply -f - >/dev/null
  phase_is Running 120
}

# What a job makes, apart from what was in the namespace before, and the keys that all jobs of the
# namespace share.
parts() {
  k get pods,services,configmaps -o name | grep -Ev '^configmap/(kube-root-ca.crt|pstrain-issuer-keys|adult-data)$' || true
}
remains() {
  k get pstj -o name
  parts
}
