# What ends a job, by its policies: a job without a chief succeeds when its workers have, and TF_CONFIG
# names no chief; rules of failurePolicy ignore a crash, give a worker up, count an eviction and fail
# a job; a worker that crashes more often than backoffLimitPerReplica is given up.

# shellcheck disable=SC2016 # the shells in the pods expand it
run_case() {
  all_workers || return 1
  worker_0 || return 1
  rules || return 1
  fails_job || return 1
  counts_evictions
}

# policy_job NAME SPEC CHIEF WORKER: 1 ps that idles; SPEC is a further line of the spec.
policy_job() {
  job=$1
  k apply -f - <<END
apiVersion: pstrain.dev/v1alpha1
kind: PSTrainingJob
metadata: {name: $1}
spec:
  $2
  replicaSpecs:
    chief: $3
    ps: $(own_replicas 1 "$(idle_program)" 'terminationGracePeriodSeconds: 1')
    worker: $4
END
}
# program SCRIPT: an own container that runs the lines; \$PSTRAIN_REPLICA_INDEX says which replica it is.
program() { own_container /bin/sh, -c, "\"$1\""; }
idles() { own_replicas "$1" "$(idle_program)" 'terminationGracePeriodSeconds: 1'; }
with() { echo "{$1, ${2#\{}"; } # FIELDS REPLICA-SPEC

all_workers() {
  policy_job all 'successPolicy: AllWorkers' '{replicas: 0}' \
    "$(own_replicas 2 "$(program 'echo TF_CONFIG=$TF_CONFIG')")"
  phase_is Succeeded 180 || return 1
  until_is 60 '' pod_of ps 0 || return 1
  [[ -z $(k get pods -l pstrain.dev/job-name=all,pstrain.dev/replica-type=chief -o name) ]] ||
    fail "there is a chief" || return 1
  k logs all-worker-1 | sed -n 's/^TF_CONFIG=//p' >"$work/tf_config"
  python3 - "$work/tf_config" "$namespace" <<'END'
import json, sys
config = json.load(open(sys.argv[1]))
assert config["task"] == {"type": "worker", "index": 1}, config
assert sorted(config["cluster"]) == ["ps", "worker"], config
assert config["cluster"]["worker"][0] == f"all-worker-0.all.{sys.argv[2]}.svc:2222", config
END
}

worker_0() {
  policy_job first 'successPolicy: Worker0' '{replicas: 0}' \
    "$(own_replicas 2 "$(program '[ $PSTRAIN_REPLICA_INDEX = 0 ] || sleep 100000')" 'terminationGracePeriodSeconds: 1')"
  phase_is Succeeded 180 || return 1
  until_is 60 '' pod_of worker 1
}

# Worker 0 crashes once with a code that is ignored, worker 1 with one that gives it up, worker 2 for
# ever.
rules() {
  local rules='failurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: In, values: [41]}},
      {action: FailReplica, onExitCodes: {operator: In, values: [42]}}]}, backoffLimitPerReplica: 1'
  policy_job rules 'runPolicy: {backoffLimit: 2}' "$(idles 1)" \
    "$(with "$rules" "$(own_replicas 3 "$(program 'case $PSTRAIN_REPLICA_INDEX-$PSTRAIN_ATTEMPT in 0-0) exit 41;; 1-*) exit 42;; 2-*) exit 1;; esac; sleep 100000')" 'terminationGracePeriodSeconds: 1')")"
  until_is 180 'true true' job_field '{.status.restarts.replicas.worker-1.givenUp} {.status.restarts.replicas.worker-2.givenUp}' || return 1
  until_is 60 2 job_field '{.status.replicaStatuses.worker.givenUp}' || return 1
  until_true 120 replacement_ready worker 0 rules-worker-0 || return 1
  local counts
  counts=$(job_field '{.status.phase} {.status.restarts.failures} {.status.restarts.replicas.worker-0.ignoredFailures} {.status.restarts.replicas.worker-1.attempt} {.status.restarts.replicas.worker-2.attempt}')
  [[ $counts == 'Running 2 1 1 2' ]] || fail "phase, failures, ignored and attempts: $counts" || return 1
  until_true 30 given_up_is_told || return 1
  k delete pstj/rules
}
given_up_is_told() {
  notes_of rules ReplicaFailed | grep -q '^worker-1 on node n[0-9]: Error, exit code 42: .*; rule 1 of its failurePolicy: FailReplica; it is given up and not started again (pod rules-worker-1)$'
}

fails_job() {
  policy_job fails 'runPolicy: {backoffLimit: 6}' "$(idles 1)" \
    "$(with 'failurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: NotIn, values: [1]}}]}' \
      "$(own_replicas 1 "$(program 'exit 9')")")"
  phase_is Failed 180 || return 1
  until_is 10 FailurePolicy job_field '{.status.conditions[?(@.type=="Failed")].reason}'
}

counts_evictions() {
  policy_job evicted 'runPolicy: {backoffLimit: 0}' "$(idles 1)" \
    "$(with 'failurePolicy: {rules: [{action: Count, onPodConditions: [{type: DisruptionTarget}]}]}' "$(idles 1)")"
  until_true 120 replica_ready worker 0 || return 1
  evict "$(pod_of worker 0)"
  phase_is Failed 60 || return 1
  ended worker-0 '1 0 EvictionByEvictionAPI n[0-9]'
}
