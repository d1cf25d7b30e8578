# A job is suspended and resumed; it continues from its last checkpoint.

run_case() {
  start_long_job
  strike suspend
  local before
  before=$(job_field '{.status.training.examplesCommitted}')
  k patch "pstj/$job" --type=merge -p '{"spec": {"runPolicy": {"suspend": false}}}'
  phase_is Running 120
  until_true 120 replica_ready chief 0
  (($(job_field '{.status.training.examplesCommitted}') >= before)) ||
    fail "the job started from the beginning" || return 1
  succeeds 600
}

suspend() {
  k patch "pstj/$job" --type=merge -p '{"spec": {"runPolicy": {"suspend": true}}}'
  phase_is Suspended 120
  until_is 60 '' k get pods --field-selector status.phase=Running -o name
}
