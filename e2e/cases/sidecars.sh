# Other containers beside the training container, before it and after it: one that fails, one that runs
# on, and a sidecar of initContainers. In each job the chief fails twice and is replaced, and the job
# ends when the chief does.

run_case() {
  sidecar_job fails-last last 'exit 7'
  sidecar_job fails-first first 'exit 7'
  sidecar_job runs-on-last last 'sleep 100000'
  sidecar_job runs-on-first first 'sleep 100000'
  native_job native
  for job in fails-last fails-first runs-on-last runs-on-first native; do
    phase_is Succeeded 240 || return 1
    counted || return 1
  done
  for job in runs-on-last runs-on-first; do
    until_is 60 '' k get pods -l "pstrain.dev/job-name=$job" -o name || return 1
  done
  # What ends by itself keeps its logs.
  until_is 60 Succeeded field pod/native-chief-0-2 '{.status.phase}'
}

# Two crashes of the chief, and nothing that a sidecar did.
counted() {
  local pod counts
  counts=$(job_field '{.status.restarts.failures} {.status.restarts.disruptions} {.status.restarts.replicas.chief-0.attempt}')
  [[ $counts == '2 0 3' ]] || fail "$job: wanted 2 failures of the chief, got: $counts" || return 1
  [[ $(last_end chief-0) == 'Error 1 n'[0-9] ]] || fail "$job: lastEnd is: $(last_end chief-0)" || return 1
  for pod in "$job-chief-0" "$job-chief-0-1"; do
    until_true 30 event_says_how "$pod" || return 1
  done
}
event_says_how() { # POD
  notes_of "$job" ReplicaFailed |
    grep -qx "chief-0 on node n[0-9]: Error, exit code 1: the training program exited with code 1; its last line: attempt [01] fails on purpose (pod $1)"
}

# sidecar_job NAME first|last COMMAND-LINE. Where the sidecar is first, the template says which
# container trains; of the other jobs it is the first.
sidecar_job() {
  local training metadata='' containers
  training="{name: main, $(own_program)}"
  containers="$training, $(other_container log "$3")"
  if [[ $2 == first ]]; then
    containers="$(other_container log "$3"), $training"
    metadata='metadata: {annotations: {pstrain.dev/training-container: main}}, '
  fi
  own_job "$1" "{replicas: 1, template: {${metadata}spec: {terminationGracePeriodSeconds: 1, containers: [$containers]}}}" |
    k apply -f -
  until_is 60 main field "pod/$1-chief-0" '{.metadata.annotations.pstrain\.dev/training-container}'
}
native_job() { # NAME
  local sidecar
  sidecar=$(other_container log 'sleep 100000')
  own_job "$1" "$(own_replicas 1 "$(own_program)" "terminationGracePeriodSeconds: 1, initContainers: [${sidecar%\}}, restartPolicy: Always}]")" |
    k apply -f -
}
