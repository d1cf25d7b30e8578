# A program of the user's own that traps SIGTERM and exits 0: when its chief's pod is deleted, the job
# is not done. Where the template says that exit 0 is the end even then, it is.

run_case() {
  local program
  program=$(own_container /bin/sh, -c, "\"trap 'exit 0' TERM; while true; do sleep 1; done\"")
  own_job drains "$(own_replicas 1 "$program")" | k apply -f -
  own_job finishes "$(own_replicas 1 "$program, env: [{name: PSTRAIN_EXIT_0_AFTER_SIGTERM, value: finished}]")" |
    k apply -f -
  for job in drains finishes; do
    until_true 120 replica_ready chief 0 || return 1
    k delete "pod/$(pod_of chief 0)" --wait=false
  done
  job=finishes
  phase_is Succeeded 60 || return 1
  job=drains
  until_true 120 replacement_ready chief 0 drains-chief-0 || return 1
  [[ $(job_field '{.status.phase}') == Running ]] || fail "the phase is $(job_field '{.status.phase}')" || return 1
  [[ $(job_field '{.status.restarts.failures} {.status.restarts.disruptions} {.status.restarts.replicas.chief-0.disruptions}') == '0 1 1' ]] ||
    fail "the deletion was not counted as one disruption" || return 1
  [[ $(last_end chief-0) == 'Stopped 85 n'[0-9] ]] || fail "lastEnd is: $(last_end chief-0)" || return 1
  until_true 30 event_says_how
}

event_says_how() {
  notes_of drains ReplicaDisrupted |
    grep -qx 'chief-0 on node n[0-9]: Stopped, exit code 85: the training program was told to stop and exited with code 0: it has drained, not finished (--exit-0-after-sigterm) (pod drains-chief-0)'
}
