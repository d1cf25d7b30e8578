# A node is switched off for good. Replicas that replace their pods AfterTermination wait for the pods
# on it: with replacementTimeoutSeconds until that is over, without it until the Node is deleted.
# nodes: 2

run_case() {
  lonely_job bounded 'replacementTimeoutSeconds: 15, '
  lonely_job waits ''
  trap 'cluster node-start n2; until_is 120 True n2_ready' EXIT
  cluster node-kill n2
  for job in bounded waits; do
    until_true 120 is_being_deleted "pod/$job-worker-0" || return 1
  done
  job=bounded
  until_true 120 replica_ready worker 0 || return 1
  goes_on_elsewhere || return 1
  job=waits
  until_true 60 says_for_whom_it_waits || return 1
  ! k get pod/waits-worker-0-1 || fail "waits-worker-0 was replaced while its Node was there" || return 1
  kubectl delete node n2
  until_true 120 replica_ready worker 0 || return 1
  goes_on_elsewhere
}

# A job whose worker runs on n2 as long as there is one.
lonely_job() { # NAME FIELD-OF-THE-WORKER
  local affinity worker
  affinity='affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, preference: {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n2]}]}}]}}'
  worker=$(own_replicas 1 "$(idle_program)" "terminationGracePeriodSeconds: 1, $affinity")
  own_job "$1" "$(own_replicas 1 "$(idle_program)" 'nodeSelector: {kubernetes.io/hostname: n1}')" "{$2${worker#\{}" |
    k apply -f -
  job=$1
  until_true 120 replica_ready worker 0 || return 1
  [[ $(node_of "$1-worker-0") == n2 ]] || fail "$1-worker-0 does not run on n2"
}

goes_on_elsewhere() {
  [[ $(node_of "$job-worker-0-1") == n1 ]] || fail "$job-worker-0-1 does not run on n1" || return 1
  until_true 60 gone "pod/$job-worker-0" || return 1
  [[ $(job_field '{.status.restarts.failures} {.status.restarts.disruptions} {.status.restarts.replicas.worker-0.lastEnd.node}') == '0 1 n2' ]] ||
    fail "$job: the loss was not counted as one disruption on n2"
}

is_being_deleted() { [[ -n $(field "$1" '{.metadata.deletionTimestamp}') ]]; }
says_for_whom_it_waits() {
  job_field '{.status.conditions[?(@.type=="Restarting")].message}' | grep -qF 'worker-0 waits for its attempt 0 on node n2'
}
gone() { ! k get "$1"; }
n2_ready() { kubectl get node n2 -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'; }
