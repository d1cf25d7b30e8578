# Somebody deletes a worker's pod.

run_case() {
  start_long_job
  strike delete_worker
  succeeds 600
}

delete_worker() {
  local pod
  pod=$(pod_of worker 1)
  k delete pod "$pod" --wait=false
  replaced worker 1 "$pod"
}
