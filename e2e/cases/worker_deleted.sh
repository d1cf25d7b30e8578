# Somebody deletes a worker's pod.

run_case() {
  start_long_job
  k wait "pstj/$job" --for=condition=PodsReady --timeout=120s
  strike delete_worker
  succeeds 600
}

delete_worker() {
  local pod
  pod=$(pod_of worker 1)
  report "delete -> create call, bound, agent runs, runtime runs, first step (s):" \
    "$(delete_until_first_step 1)"
  replaced worker 1 "$pod"
}
