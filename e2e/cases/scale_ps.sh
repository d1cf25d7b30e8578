# Parameter servers are added and taken away while the job trains.

run_case() {
  start_long_job
  strike scale
  succeeds 600
  local failures
  failures=$(job_field '{.status.restarts.failures}')
  [[ $failures == 0 ]] || fail "$failures failures were counted"
}

scale() {
  set_ps 3
  until_is 120 3 job_field '{.status.replicaStatuses.ps.ready}'
  until_true 60 shards_moved_to 2
  set_ps 1
  until_is 120 1 job_field '{.status.replicaStatuses.ps.active}'
  until_true 60 pod_is_gone "$job-ps-1"
  until_true 60 pod_is_gone "$job-ps-2"
  [[ $(job_field '{.status.phase}') == Running ]] || fail "the job had ended before it was on one ps"
}

# Until the chief, which goes on, knows of it.
set_ps() {
  local began=$SECONDS
  k patch "pstj/$job" --type=merge -p "{\"spec\": {\"replicaSpecs\": {\"ps\": {\"replicas\": $1}}}}"
  until_true 60 chief_says " the number of ps changes: .* ps=$1 before="
  report "the chief knew of $1 ps after $((SECONDS - began)) s"
}
# Shards went there from another ps that was running.
shards_moved_to() { chief_says " shards assigned ps=$1 .* moved=[1-9].* outcome=OK"; }
chief_says() { k logs "$job-chief-0" | grep -E "$1"; }
pod_is_gone() { ! k get "pod/$1"; }
