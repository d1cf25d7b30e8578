# The eviction API takes a worker's pod away.

run_case() {
  start_long_job
  strike evict_worker
  succeeds 600
  [[ $(job_field '{.status.restarts.replicas.worker-1.disruptions}') == 1 ]] ||
    fail "the eviction was not counted as a disruption"
}

evict_worker() {
  local pod
  pod=$(pod_of worker 1)
  evict "$pod"
  replaced worker 1 "$pod"
}
