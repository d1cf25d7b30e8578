# A worker's pod is deleted five times: how long until the first step of its successor.

deletions=5

run_case() {
  make_volumes
  # Long enough for all of them; worker_deleted shows that such a job ends well.
  adult_job "[$(epochs 1000)]" | k apply -f - >/dev/null
  until_true 300 has_done 1
  local i
  for ((i = 0; i < deletions; i++)); do
    until_true 60 has_lived
    delete_until_first_step 1 >>"$work/times"
  done
  report "delete -> create call, bound, agent runs, runtime runs, first step (s), p50 of $deletions:" \
    "$(median <"$work/times")"
  report "$(cat "$work/times")"
}

# A pod that is deleted within 10 s delays its successor.
has_lived() {
  local since
  replica_ready worker 1 || return
  since=$(field "pod/$(pod_of worker 1)" '{.status.containerStatuses[0].state.running.startedAt}')
  [[ -n $since ]] && (($(date +%s) - $(date +%s -d "$since") > 10))
}

# The middle of each column.
median() {
  python3 -c 'import statistics, sys
columns = zip(*([float(word) for word in line.split()] for line in sys.stdin))
print(*(f"{statistics.median(column):.2f}" for column in columns))'
}
