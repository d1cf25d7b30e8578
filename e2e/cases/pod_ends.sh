# Ends of pods that a kubelet and Kubernetes' own controllers produce: a taint NoExecute, a deletion by
# force, and an emptyDir that grows over its limit. Each is counted as what it is, with its cause.
# nodes: 2

run_case() {
  tainted || return 1
  deleted_by_force || return 1
  over_its_storage
}

tainted() {
  local affinity
  affinity='affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, preference: {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n2]}]}}]}}'
  own_job tainted "$(own_replicas 1 "$(idle_program)" 'nodeSelector: {kubernetes.io/hostname: n1}')" \
    "$(own_replicas 1 "$(idle_program)" "terminationGracePeriodSeconds: 5, $affinity")" | k apply -f -
  job=tainted
  until_true 120 replica_ready worker 0 || return 1
  [[ $(node_of tainted-worker-0) == n2 ]] || fail "tainted-worker-0 does not run on n2" || return 1
  trap 'kubectl taint node n2 example.com/away:NoExecute- || true' EXIT
  kubectl taint node n2 example.com/away=now:NoExecute
  until_true 120 replacement_ready worker 0 tainted-worker-0 || return 1
  [[ $(node_of tainted-worker-0-1) == n1 ]] || fail "tainted-worker-0-1 does not run on n1" || return 1
  kubectl taint node n2 example.com/away:NoExecute-
  ended worker-0 '0 1 DeletionByTaintManager n2'
}

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

# The limit is the program's own affair: a crash, of which backoffLimit 0 allows none.
over_its_storage() {
  local program
  program="$(own_container /bin/sh, -c, '"head -c 67108864 /dev/zero > /full/file; sleep 100000"'), volumeMounts: [{name: full, mountPath: /full}]"
  {
    own_job full "$(own_replicas 1 "$(idle_program)")" \
      "$(own_replicas 1 "$program" 'terminationGracePeriodSeconds: 5, volumes: [{name: full, emptyDir: {sizeLimit: 8Mi}}]')"
    echo "  runPolicy: {backoffLimit: 0}"
  } | k apply -f -
  job=full
  phase_is Failed 240 || return 1
  ended worker-0 '1 0 Evicted n[0-9]'
}

ended() { # REPLICA 'FAILURES DISRUPTIONS REASON NODE', a pattern
  local counts
  counts=$(job_field "{.status.restarts.failures} {.status.restarts.disruptions} {.status.restarts.replicas.$1.lastEnd.reason} {.status.restarts.replicas.$1.lastEnd.node}")
  # shellcheck disable=SC2053 # a pattern
  [[ $counts == $2 ]] || fail "$job: wanted $2 of $1, got: $counts"
}
