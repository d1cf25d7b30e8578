# Somebody deletes the chief's pod.

run_case() {
  start_long_job
  strike delete_chief
  succeeds 600
}

delete_chief() {
  local pod
  pod=$(pod_of chief 0)
  k delete pod "$pod" --wait=false
  replaced chief 0 "$pod"
}
