# What the operator asks of the apiserver: for one job from start to end, and nothing, its Lease
# apart, while all jobs are finished.

window_seconds=60

run_case() {
  make_volumes
  adult_job | k apply -f - >/dev/null
  succeeds 300
  failing_job | k apply -f - >/dev/null
  job=failing
  phase_is Failed 120
  # Pods that are deleted at the end of a job are gone within their grace period.
  until_is 60 '' k get pods --field-selector status.phase=Running -o name
  until_is 90 '' late_writes
  report "calls for one job of 7 replicas, start to end:"
  report "$(operator_calls table "namespace=$namespace" job=adult)"
  no_writes
}

# Its chief fails, and no failure is allowed.
failing_job() {
  own_job failing "$(own_replicas 1)"
  echo "  runPolicy: {backoffLimit: 0}"
}

# Repeats of events are counted up in their events some seconds later.
late_writes() { operator_calls writes "since=$(timestamp '15 seconds ago')"; }

no_writes() {
  local since writes
  since=$(timestamp)
  sleep "$window_seconds"
  writes=$(operator_calls writes "since=$since")
  report "in $window_seconds s with finished jobs only: $(operator_calls count "since=$since") calls," \
    "$(grep -c . <<<"$writes" || true) writes, the Lease apart"
  [[ -z $writes ]] || fail "writes with nothing to do: $writes"
}
