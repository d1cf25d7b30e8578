# Somebody deletes a parameter server's pod.

run_case() {
  start_long_job
  strike delete_ps
  succeeds 600
}

delete_ps() {
  local pod
  pod=$(pod_of ps 0)
  k delete pod "$pod" --wait=false
  replaced ps 0 "$pod"
}
