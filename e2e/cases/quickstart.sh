# The first job of the README: one file with volume, job and data. Its volume can be written by one
# node, so all pods run there, and nothing warns of it.

job=quickstart

run_case() {
  local begun=$SECONDS
  make_volume_of_one_node
  k apply -f "$root/examples/quickstart.yaml"
  until_true 60 all_on_one_node || fail "pods and their nodes: $(nodes_of_pods)" || return 1
  succeeds 120
  report "from kubectl apply to the end of the training: $((SECONDS - begun)) s"
  [[ -z $(job_field '{.status.conditions[?(@.type=="CheckpointNotShared")].status}') ]] ||
    fail "CheckpointNotShared, though all pods run on one node" || return 1
  says_so || return 1
  awk -v auc="$(job_field '{.status.training.metrics.auc}')" 'BEGIN { exit !(auc > 0.7) }' ||
    fail "the model has learnt nothing: AUC $(job_field '{.status.training.metrics.auc}')"
}

# What kubectl shows of a job that has succeeded, and how a script waits for its end.
says_so() {
  k wait "pstj/$job" --for=jsonpath='{.status.completionTime}' --timeout=10s
  k get pstj --field-selector status.phase=Succeeded -o name | grep -qx "pstrainingjob.pstrain.dev/$job" ||
    fail "no job is chosen by its phase" || return 1
  [[ $(k get pstj --field-selector status.phase=Failed -o name) == '' ]] ||
    fail "a job that has succeeded is chosen as one that has failed" || return 1
  local row
  row=$(k get pstj "$job" -o wide)
  grep -q 'REASON.*PROGRESS.*RATE.*LOSS.*CHECKPOINT' <<<"$row" || fail "columns: $row" || return 1
  grep -q "Succeeded *$(job_field '{.status.reason}') .* 100% " <<<"$row" ||
    fail "the job's line: $row" || return 1
  [[ $(job_field '{.status.conditions[?(@.type=="Checkpointed")].status}') == True ]] ||
    fail "Checkpointed: $(job_field '{.status.conditions[?(@.type=="Checkpointed")]}')" || return 1
  [[ $(job_field '{.status.conditions[?(@.type=="PodsReady")].reason}') == JobFinished ]] ||
    fail "PodsReady: $(job_field '{.status.conditions[?(@.type=="PodsReady")]}')"
}

nodes_of_pods() {
  k get pods --selector pstrain.dev/job-name=quickstart \
    -o 'jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName}{"\n"}{end}'
}
all_on_one_node() { # 1 chief, 2 ps, 2 workers, 1 evaluator
  nodes_of_pods | awk '{ pods += NF == 2; nodes[$2] = 1 } END { exit !(pods == 6 && length(nodes) == 1) }'
}

# What a default StorageClass would give to the claim: here none is the default.
make_volume_of_one_node() {
  local folder=$work/volumes/$namespace
  mkdir -p "$folder"
  chown 65532:65532 "$folder"
  kubectl apply -f - >/dev/null <<END
apiVersion: v1
kind: PersistentVolume
metadata: {name: $namespace-quickstart}
spec:
  capacity: {storage: 100Mi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: ""
  claimRef: {namespace: $namespace, name: quickstart}
  hostPath: {path: "$folder", type: Directory}
END
}
