# The training process of a parameter server is killed; its agent stays and reports it.

run_case() {
  start_long_job
  strike kill_ps
  succeeds 600
}

kill_ps() {
  local pod pid
  pod=$(pod_of ps 1)
  pid=$(pids_in_pod "$pod" pstrain-runtime)
  [[ -n $pid ]] || { fail "no training process in $pod"; return 1; }
  kill -KILL "$pid"
  replaced ps 1 "$pod"
}
