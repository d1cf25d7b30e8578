# Nodes are switched off for good. Replicas that replace their pods AfterTermination wait for the pods
# on them: with replacementTimeoutSeconds until that is over, without it until the Node is deleted or
# has the taint out-of-service.
# nodes: 3

run_case() {
  lonely_job bounded n2 'replacementTimeoutSeconds: 15, '
  lonely_job waits n2 ''
  lonely_job fenced n3 ''
  trap 'bring_back n2; bring_back n3' EXIT
  cluster node-kill n2
  cluster node-kill n3
  for job in bounded waits fenced; do
    until_true 120 is_being_deleted "pod/$job-worker-0" || return 1
  done
  job=bounded
  until_true 120 replica_ready worker 0 || return 1
  goes_on_elsewhere n2 || return 1
  for job in waits fenced; do
    until_true 60 says_for_whom_it_waits || return 1
    ! k get "pod/$job-worker-0-1" || fail "$job-worker-0 was replaced while its Node was there" || return 1
  done
  job=waits
  kubectl delete node n2
  until_true 120 replica_ready worker 0 || return 1
  goes_on_elsewhere n2 || return 1
  job=fenced
  kubectl taint node n3 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute
  until_true 120 replica_ready worker 0 || return 1
  goes_on_elsewhere n3
}

# A job whose worker runs on NODE as long as there is one, and all else on n1.
lonely_job() { # NAME NODE FIELD-OF-THE-WORKER
  local worker
  worker=$(own_replicas 1 "$(idle_program)" "terminationGracePeriodSeconds: 1, $(prefers "$2" n1)")
  own_job "$1" "$(own_replicas 1 "$(idle_program)" "$(only_on n1)")" "{$3${worker#\{}" | k apply -f -
  job=$1
  until_true 120 replica_ready worker 0 || return 1
  [[ $(node_of "$1-worker-0") == "$2" ]] || fail "$1-worker-0 does not run on $2"
}

goes_on_elsewhere() { # NODE
  [[ $(node_of "$job-worker-0-1") == n1 ]] || fail "$job-worker-0-1 does not run on n1" || return 1
  until_true 60 gone "pod/$job-worker-0" || return 1
  ended worker-0 "0 1 DeletionBy* $1"
}

is_being_deleted() { [[ -n $(field "$1" '{.metadata.deletionTimestamp}') ]]; }
says_for_whom_it_waits() {
  job_field '{.status.conditions[?(@.type=="Restarting")].message}' |
    grep -q 'worker-0 waits for its attempt 0 on node n[23]'
}
gone() { ! k get "$1"; }
bring_back() { # NODE
  cluster node-start "$1"
  until_is 120 True is_ready "$1"
  kubectl taint node "$1" node.kubernetes.io/out-of-service:NoExecute- || true
}
is_ready() { kubectl get node "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'; }
