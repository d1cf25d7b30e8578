# The apiserver is killed and comes back.

run_case() {
  start_long_job
  strike cluster api-restart
  # The operator is connected again: it still replaces what is lost.
  local pod
  pod=$(pod_of worker 0)
  k delete pod "$pod" --wait=false
  replaced worker 0 "$pod"
  succeeds 600
}
