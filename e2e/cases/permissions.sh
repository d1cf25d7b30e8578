# Each permission that the chart grants to the operator is used, or has a reason.

# What cannot be brought about here on demand.
reasons() {
  cat <<END
pstrain.dev pstrainingjobs/finalizers update only where the cluster has the admission plugin OwnerReferencesPermissionEnforcement
END
}

run_case() {
  refused_job
  job_without_claims
  expiring_job
  resized_job
  taken_names
  lost_node
  reasons >"$work/reasons"
  kubectl get clusterrole/pstrain role/pstrain-leader-election --namespace "$operator_namespace" \
    -o json >"$work/roles.json"
  local table rc=0
  table=$(operator_calls permissions "$work/roles.json" "$work/reasons") || rc=$?
  report "$table"
  return "$rc"
}

# A job that only the operator can refuse: it reads the job again (get) and reports the refusal (patch, event).
refused_job() {
  adult_job '[{"op": "add", "path": "/spec/training/features/-",
    "value": {"name": "crossed", "crossed": {"features": ["no_such_feature", "education"], "buckets": 10}}}]' |
    k apply -f -
  until_is 60 False job_field '{.status.conditions[?(@.type=="Accepted")].status}'
}

# The operator looks at the claim of a job's checkpoints, whether or not it exists (get), and tells
# the chief's pod another number of ps (patch).
job_without_claims() {
  adult_job '[{"op": "replace", "path": "/metadata/name", "value": "no-claims"}]' | k apply -f -
  until_is 60 True field pstj/no-claims '{.status.conditions[?(@.type=="Blocked")].status}'
  k patch pstj/no-claims --type=merge -p '{"spec": {"replicaSpecs": {"ps": {"replicas": 3}}}}'
  until_is 60 3 field pod/no-claims-chief-0 '{.metadata.annotations.pstrain\.dev/ps-replicas}'
  k delete pstj no-claims
}

# A finished job is deleted after its time (delete).
expiring_job() {
  {
    own_job expiring "$(own_replicas 1)"
    echo "  runPolicy: {backoffLimit: 0, ttlSecondsAfterFinished: 1}"
  } | k apply -f -
  until_true 120 gone pstj/expiring
}

# Another number of workers is another TF_CONFIG: the old ConfigMap goes when no pod names it.
resized_job() {
  own_job resized "$(own_replicas 1 "$(idle_program)" "terminationGracePeriodSeconds: 1")" | k apply -f -
  until_true 60 config_map_of resized
  local before
  before=$(config_map_of resized)
  suspended true
  k scale pstj/resized --replicas=2
  suspended false
  until_true 120 gone "$before"
  k delete pstj resized
}
suspended() { # true|false
  k patch pstj/resized --type=merge -p "{\"spec\": {\"runPolicy\": {\"suspend\": $1}}}"
  [[ $1 == false ]] || until_is 120 Suspended field pstj/resized '{.status.phase}'
}

# Somebody else has the names: of Service and ConfigMap, then of the ConfigMap, then of a pod.
taken_names() {
  own_job taken "$(own_replicas 1 "$(idle_program)" "terminationGracePeriodSeconds: 1")" >"$work/taken.yaml"
  k apply -f "$work/taken.yaml"
  until_true 60 config_map_of taken
  local config_map
  config_map=$(config_map_of taken)
  k delete pstj taken --cascade=foreground --wait --timeout=60s
  k create service clusterip taken --tcp=1
  k create configmap "${config_map#configmap/}"
  pod_that_never_runs taken-chief-0 | k apply -f -
  k apply -f "$work/taken.yaml"
  # Both are tried together; the pod's name once they are there.
  until_true 90 conflict_names "Service taken and ConfigMap ${config_map#configmap/} exist "
  k delete service/taken
  until_true 90 conflict_names "ConfigMap ${config_map#configmap/} exists "
  k delete "$config_map"
  until_true 90 conflict_names "Pod taken-chief-0 exists "
  k delete pod/taken-chief-0 --force --grace-period=0
  until_is 90 False field pstj/taken '{.status.conditions[?(@.type=="NameConflict")].status}'
}
conflict_names() { # TEXT: the message has it
  field pstj/taken '{.status.conditions[?(@.type=="NameConflict")].message}' | grep -qF "$1"
}

# A pod on a node that is not there does not go when somebody deletes it: the operator looks at the
# node (get). Once the operator has, the next attempt comes.
lost_node() {
  own_job lost "$(own_replicas 1 "$(idle_program)" "nodeName: no-such-node, terminationGracePeriodSeconds: 1")" |
    k apply -f -
  until_true 60 k get pod/lost-worker-0
  k delete pod/lost-worker-0 --wait=false
  until_true 60 k get pod/lost-worker-0-1
  k delete pstj lost
  k delete pods -l pstrain.dev/job-name=lost --force --grace-period=0
}

# configmap/NAME of a job; fails when there is none.
config_map_of() { k get configmaps -o name | grep "^configmap/$1-"; }
gone() { ! k get "$1"; }
