# Workers are added and taken away while the job runs.

run_case() {
  start_long_job
  strike scale
  succeeds 600
}

scale() {
  k scale "pstj/$job" --replicas=5
  until_is 120 5 job_field '{.status.replicaStatuses.worker.ready}'
  k scale "pstj/$job" --replicas=2
  until_is 120 2 job_field '{.status.replicaStatuses.worker.active}'
  until_true 60 worker_is_gone 4
}

worker_is_gone() { [[ -z $(pod_of worker "$1") ]]; }
