# The operator is killed while it makes the pods of a job.

run_case() {
  make_volumes
  adult_job '[{"op": "replace", "path": "/spec/replicaSpecs/worker/replicas", "value": 8}]' |
    k apply -f - >/dev/null
  until_true 60 some_pods
  kill_operator
  until_true 120 replica_ready worker 7
  succeeds 600
  # One pod a replica: nothing was made twice.
  local doubled
  doubled=$(k get pods -o 'jsonpath={range .items[*]}{.spec.hostname}{"\n"}{end}' | sort | uniq -d)
  [[ -z $doubled ]] || fail "more than one pod of: $doubled"
}

some_pods() { (($(k get pods -o name | wc -l) > 0)); }

kill_operator() {
  local pod uid
  for pod in $(operator_pods); do
    uid=$(kubectl --namespace "$operator_namespace" get "$pod" -o 'jsonpath={.metadata.uid}')
    find /sys/fs/cgroup/memory/pst-n* -path "*pod$uid/*" -name cgroup.procs -exec cat {} + |
      while read -r pid; do
        [[ $(cat "/proc/$pid/comm" 2>/dev/null) != pstrain-operat* ]] || kill -KILL "$pid"
      done
  done
}
