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
  until_true 60 ps_is_gone 1
  until_true 60 ps_is_gone 2
  until_true 60 shards_moved_to 0
  [[ $(job_field '{.status.phase}') == Running ]] || fail "the job had ended before it was on one ps"
}

set_ps() {
  k patch "pstj/$job" --type=merge -p "{\"spec\": {\"replicaSpecs\": {\"ps\": {\"replicas\": $1}}}}"
}
# By the chief's log: shards went there while the ps that had them was running.
shards_moved_to() {
  k logs "$(pod_of chief 0)" | grep -qE "shards assigned ps=$1 .* moved=[1-9].* outcome=OK"
}
ps_is_gone() { [[ -z $(pod_of ps "$1") ]]; }
