# Ends of pods that a kubelet and Kubernetes' own controllers produce: a taint NoExecute, a node under
# pressure, also when its kubelet is started again, a deletion by force, a refusal by the kubelet, an
# emptyDir over its limit and a container over its ephemeral storage. Each is counted as what it is, with its cause.
# nodes: 2

run_case() {
  tainted || return 1
  under_pressure || return 1
  restarted_under_pressure || return 1
  deleted_by_force || return 1
  refused_by_the_kubelet || return 1
  over_its_size || return 1
  over_its_storage
}

# A job whose worker runs on n2 as long as that takes pods, and all else on n1.
job_on_n2() { # NAME
  own_job "$1" "$(own_replicas 1 "$(idle_program)" "$(only_on n1)")" \
    "$(own_replicas 1 "$(idle_program)" "terminationGracePeriodSeconds: 5, $(prefers n2 n1)")" |
    k apply -f -
  job=$1
  until_true 120 replica_ready worker 0 || return 1
  [[ $(node_of "$1-worker-0") == n2 ]] || fail "$1-worker-0 does not run on n2"
}
replaced_on_n1() {
  until_true 180 replacement_ready worker 0 "$job-worker-0" || return 1
  [[ $(node_of "$job-worker-0-1") == n1 ]] || fail "$job-worker-0-1 does not run on n1"
}

tainted() {
  job_on_n2 tainted || return 1
  trap 'kubectl taint node n2 example.com/away:NoExecute- || true' EXIT
  kubectl taint node n2 example.com/away=now:NoExecute
  replaced_on_n1 || return 1
  kubectl taint node n2 example.com/away:NoExecute-
  ended worker-0 '0 1 DeletionByTaintManager n2'
}

# The kubelet of n2 wants that many free pids, of which threads take one each.
wants_free_pids() { # COUNT
  [[ -e $work/kubelet.yaml ]] || cp "$state/n2/kubelet.yaml" "$work/kubelet.yaml"
  sed "s/^evictionHard: {/&pid.available: \"$1\", /" "$work/kubelet.yaml" >"$state/n2/kubelet.yaml"
  cluster restart kubelet-n2
}
relieve_n2() {
  [[ -z ${threads:-} ]] || kill "$threads" || true
  threads=''
  cp "$work/kubelet.yaml" "$state/n2/kubelet.yaml"
  cluster restart kubelet-n2
  until_is 120 '' kubectl get node n2 -o 'jsonpath={.spec.taints}'
}
free_pids() {
  local most used
  most=$(sort -n /proc/sys/kernel/pid_max /proc/sys/kernel/threads-max | head -n 1)
  used=$(awk '{ split($4, counts, "/"); print counts[2] }' /proc/loadavg)
  echo $((most - used))
}

# Something of the node takes its pids, and the kubelet evicts the pod.
under_pressure() {
  job_on_n2 pressed || return 1
  trap relieve_n2 EXIT
  wants_free_pids $(($(free_pids) - 2000))
  # The kubelet looks every 10 s; so far it finds nothing to do.
  sleep 15
  [[ $(pod_of worker 0) == pressed-worker-0 ]] || fail "evicted before there was a reason" || return 1
  python3 -c 'import threading, time
threading.stack_size(65536)
for _ in range(4000): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
time.sleep(600)' &
  threads=$!
  disrupted_on_n2 TerminationByKubelet
}

# A kubelet that is started on a node under pressure refuses the pods that run there, and stops them.
restarted_under_pressure() {
  job_on_n2 restarted || return 1
  trap relieve_n2 EXIT
  wants_free_pids 100000000
  disrupted_on_n2 '(Evicted|TerminationByKubelet)'
}

# The scheduler hears of the pressure a few seconds later than the kubelet, which refuses what it sends
# there meanwhile.
disrupted_on_n2() { # REASON, a pattern
  until_true 180 ready_on_n1 || return 1
  relieve_n2
  ended worker-0 '0 [1-9] @(Evicted|TerminationByKubelet) n2' || return 1
  notes_of "$job" ReplicaDisrupted | grep -qE "^worker-0 on node n2: $1[,:].*\(pod $job-worker-0\)$" ||
    fail "$job: the events say: $(notes_of "$job" ReplicaDisrupted)"
}
ready_on_n1() { replica_ready worker 0 && [[ $(node_of "$(pod_of worker 0)") == n1 ]]; }

deleted_by_force() {
  own_job forced "$(own_replicas 1 "$(idle_program)" 'terminationGracePeriodSeconds: 5')" | k apply -f -
  job=forced
  until_true 120 replica_ready worker 0 || return 1
  local node
  node=$(node_of forced-worker-0)
  k delete pod/forced-worker-0 --force --grace-period=0
  until_true 120 replacement_ready worker 0 forced-worker-0 || return 1
  ended worker-0 "0 1 Deleted $node"
}

# Nobody is to blame, and each attempt waits longer than the one before.
refused_by_the_kubelet() {
  local since
  since=$(timestamp)
  own_job refused "$(own_replicas 1 "$(idle_program)")" \
    "$(own_replicas 1 "$(idle_program), resources: {requests: {cpu: 1000}}" 'nodeName: n1')" |
    k apply -f -
  job=refused
  until_true 120 refused_often || return 1
  ended worker-0 '0 [0-9]* OutOfcpu n1' || return 1
  condition_says Blocked 'remove nodeName from the template' || return 1
  condition_says Restarting 'worker-0 does not start again before' || return 1
  sleep 60
  (($(job_field '{.status.restarts.replicas.worker-0.attempt}') <= 10)) ||
    fail "more than 10 attempts: $(job_field '{.status.restarts}')" || return 1
  report "$(operator_calls count "namespace=$namespace" job=refused "since=$since") calls for the job that the kubelet refuses"
}
refused_often() { (($(job_field '{.status.restarts.disruptions}') >= 3)); }
condition_says() { # TYPE WORDS
  job_field "{.status.conditions[?(@.type==\"$1\")].message}" | grep -qF -- "$2" ||
    fail "$job: the condition $1 says: $(job_field "{.status.conditions[?(@.type==\"$1\")].message}")"
}

# What the program writes is its own affair: a crash, of which backoffLimit 0 allows none.
over_its_size() { fills_up full-volume 'sizeLimit: 8Mi' ''; }
over_its_storage() { fills_up full-storage '' ', resources: {limits: {ephemeral-storage: 8Mi}}'; }
fills_up() { # NAME EMPTYDIR-FIELDS CONTAINER-FIELDS
  local program
  program="$(own_container /bin/sh, -c, '"head -c 67108864 /dev/zero > /full/file; sleep 100000"'), volumeMounts: [{name: full, mountPath: /full}]"
  {
    own_job "$1" "$(own_replicas 1 "$(idle_program)")" \
      "$(own_replicas 1 "$program$3" "terminationGracePeriodSeconds: 5, volumes: [{name: full, emptyDir: {$2}}]")"
    echo "  runPolicy: {backoffLimit: 0}"
  } | k apply -f -
  job=$1
  phase_is Failed 240 || return 1
  ended worker-0 '1 0 Evicted n[0-9]'
}
