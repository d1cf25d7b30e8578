# Functions for the cases. To be sourced by run.sh. Every wait has a deadline and fails with
# what it wanted and what it saw.
# shellcheck shell=bash disable=SC2154 # variables of run.sh

# --- waiting -------------------------------------------------------------------

fail() { echo "$*" >&2; return 1; }

# What a case has measured: shown below its line.
report() { echo "$*" | tee -a "$work/report"; }

# until_is SECONDS WANTED COMMAND...: polls until the command's output is WANTED.
until_is() {
  local end=$((SECONDS + $1)) wanted=$2 got=''
  shift 2
  until got=$("$@" 2>/dev/null) && [[ $got == "$wanted" ]]; do
    ((SECONDS < end)) || { fail "wanted '$wanted', got '$got' from: $*"; return 1; }
    sleep 0.2
  done
}

# until_true SECONDS COMMAND...: polls until the command succeeds.
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || { fail "not in time: $*"; return 1; }
    sleep 0.2
  done
}

# timestamp [WHEN]: a time as the audit log writes it; the current time by default.
timestamp() { date -u -d "${1:-now}" +%FT%T.%6NZ; }

# --- the cluster ---------------------------------------------------------------

cluster() { "$root/e2e/cluster/cluster.sh" "$@"; }
# The namespace of the case.
k() { kubectl --namespace "$namespace" "$@"; }
field() { k get "$1" -o "jsonpath=$2"; } # KIND/NAME JSONPATH

# A namespace that refuses pods which are not restricted.
make_namespace() { # NAME
  kubectl create namespace "$1" >/dev/null
  kubectl label namespace "$1" pod-security.kubernetes.io/enforce=restricted >/dev/null
  until_is 20 default kubectl --namespace "$1" get serviceaccount default -o 'jsonpath={.metadata.name}'
}

# What examples/adult/job.yaml names: the data, and the claim of examples/adult/checkpoints.yaml on
# a directory of this machine, which all nodes see.
make_volumes() {
  local checkpoints=$work/volumes/$namespace
  mkdir -p "$checkpoints"
  chown 65532:65532 "$checkpoints"
  k create configmap adult-data --from-file="$root/examples/adult/data" >/dev/null
  kubectl apply -f - >/dev/null <<END
apiVersion: v1
kind: PersistentVolume
metadata: {name: $namespace-adult-checkpoints}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteMany]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: ""
  claimRef: {namespace: $namespace, name: adult-checkpoints}
  hostPath: {path: "$checkpoints", type: Directory}
END
  kubectl patch --local -f "$root/examples/adult/checkpoints.yaml" -o yaml \
    -p '{"spec": {"storageClassName": "", "volumeName": "'"$namespace"'-adult-checkpoints"}}' |
    k apply -f - >/dev/null
  until_is 30 Bound field pvc/adult-checkpoints '{.status.phase}'
}

# --- jobs ----------------------------------------------------------------------

job=adult

# adult_job [JSON-PATCH]: examples/adult/job.yaml, changed. The manifest is on stdout.
adult_job() {
  kubectl patch --local -f "$root/examples/adult/job.yaml" --type=json -p "${1:-[]}" -o yaml
}
epochs() { echo "{\"op\": \"replace\", \"path\": \"/spec/training/epochs\", \"value\": $1}"; }

# own_job NAME REPLICAS [WORKERS]: a job of the user's own program, 1 chief, 1 ps and the workers.
own_job() {
  cat <<END
apiVersion: pstrain.dev/v1alpha1
kind: PSTrainingJob
metadata: {name: $1}
spec:
  replicaSpecs:
    chief: $2
    ps: $2
    worker: ${3:-$2}
END
}
own_replicas() { # COUNT [CONTAINER-FIELDS [POD-FIELDS]]
  echo "{replicas: $1, template: {spec: {containers: [{name: training, ${2:-$(own_program)}}]${3:+, $3}}}}"
}
own_program() { own_container /usr/bin/own-program; }
idle_program() { own_container /bin/sh, -c, sleep 100000; }
# Fields of a pod's spec: on that node, or on one of these and rather on the first.
only_on() { echo "nodeSelector: {kubernetes.io/hostname: $1}"; }
prefers() { # NODE OTHER-NODE
  echo "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [$1, $2]}]}]}, preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, preference: {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [$1]}]}}]}}"
}
# A container beside the training container, as a restricted namespace admits it.
other_container() { # NAME COMMAND-LINE
  echo "{name: $1, image: '$own_program_image', imagePullPolicy: Never, command: [/bin/sh, -c, \"$2\"], $restricted}"
}
restricted='securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}'
own_container() { # ARGUMENTS, with commas
  echo "image: '$own_program_image', imagePullPolicy: Never, args: [--, $*]"
}

# The job of the fault cases lasts long enough that a fault after 20 % comes in the middle, also where
# progress is written once in 30 s: its workers may use little of a processor, so that it does so on
# every machine, and leaves most of this one to what runs beside.
start_long_job() { # [LIMIT [EPOCHS]]
  make_volumes
  long_job "$@" | k apply -f - >/dev/null
}
# long_job [LIMIT [EPOCHS]]: a further limit of its workers.
long_job() {
  adult_job "[$(epochs "${2:-40}"), {\"op\": \"add\",
    \"path\": \"/spec/replicaSpecs/worker/template\",
    \"value\": {\"spec\": {\"containers\": [{\"name\": \"training\",
      \"resources\": {\"limits\": {\"cpu\": \"200m\"${1:+, $1}}}}]}}}]"
}

job_field() { field "pstj/$job" "$1"; }
phase_is() { until_is "$2" "$1" job_field '{.status.phase}'; } # PHASE SECONDS

# Share of the examples that every shard has, in percent; 0 while nothing is known.
done_percent() {
  job_field '{.status.training.examplesCommitted} {.status.training.examplesExpected}' |
    awk '{ print ($2 > 0 ? int(100 * $1 / $2) : 0) }'
}
has_done() { (($(done_percent) >= $1)); }

# strike COMMAND...: waits for 20 % of the examples, runs the command that does the damage, and
# shows that the job was in the middle.
strike() {
  until_true 300 has_done 20
  local before
  before=$(done_percent)
  ((before < 80)) || fail "the job was at $before % before the strike" || return 1
  "$@"
}

# The job ends well and every shard has every example once. How long it takes is the machine's
# affair: the deadline counts from the last example that was committed.
succeeds() { # SECONDS
  local most=-1 end=$((SECONDS + $1)) phase='' committed=''
  while true; do
    read -r phase committed < <(
      job_field '{.status.phase} {.status.training.examplesCommitted}' 2>/dev/null
    ) || true
    [[ $phase != Succeeded ]] || break
    [[ $phase != Failed ]] || { fail "phase Failed"; return 1; }
    if [[ $committed =~ ^[0-9]+$ ]] && ((committed > most)); then
      most=$committed
      end=$((SECONDS + $1))
    fi
    ((SECONDS < end)) || { fail "phase '$phase', for $1 s no example after $most"; return 1; }
    sleep 0.2
  done
  exactly_once
}
exactly_once() {
  local counts
  counts=$(job_field '{.status.training.examplesExpected} {.status.training.examplesCommitted} {.status.training.examplesAppliedMin} {.status.training.examplesAppliedMax}')
  awk '{ exit !(NF == 4 && $1 > 0 && $1 == $2 && $1 == $3 && $1 == $4) }' <<<"$counts" ||
    fail "expected, committed, applied min and max differ: $counts"
}

# A restricted pod that no node takes, with its name as label app: for what a pod is, not for what it
# does.
pod_that_never_runs() { # NAME
  cat <<END
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {app: $1}}
spec:
  nodeSelector: {no-such-label: "true"}
  securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: c
    image: $own_program_image
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
END
}

# last_end REPLICA: why and where its last attempt ended, as "reason exitCode node".
last_end() {
  job_field "{.status.restarts.replicas.$1.lastEnd.reason} {.status.restarts.replicas.$1.lastEnd.exitCode} {.status.restarts.replicas.$1.lastEnd.node}"
}
# ended REPLICA 'FAILURES DISRUPTIONS REASON NODE': the job's counts, and why and where that replica
# ended last, as a pattern.
ended() {
  local counts
  counts=$(job_field "{.status.restarts.failures} {.status.restarts.disruptions} {.status.restarts.replicas.$1.lastEnd.reason} {.status.restarts.replicas.$1.lastEnd.node}")
  # shellcheck disable=SC2053 # a pattern
  [[ $counts == $2 ]] || fail "$job: wanted $2 of $1, got: $counts"
}
# Notes of the events of a job with that reason.
notes_of() { # JOB REASON
  k get events --field-selector "involvedObject.kind=PSTrainingJob,involvedObject.name=$1,reason=$2" \
    -o 'jsonpath={range .items[*]}{.message}{"\n"}{end}'
}

# --- replicas ------------------------------------------------------------------

# Pods of one replica that are neither ended nor being stopped, newest attempt last.
live_pods() { # ROLE INDEX
  k get pods -o 'jsonpath={range .items[*]}{.metadata.name} {.metadata.deletionTimestamp} {.status.phase}{"\n"}{end}' |
    awk -v name="^$job-$1-$2(-[0-9]+)?$" '$1 ~ name && NF == 2 && $2 ~ /Running|Pending/ { print $1 }' |
    sort -V
}
pod_of() { live_pods "$1" "$2" | tail -n 1; }
node_of() { field "pod/$1" '{.spec.nodeName}'; }
uid_of() { field "pod/$1" '{.metadata.uid}'; }

# The replica of POD has another pod, and that one is ready.
replaced() { # ROLE INDEX POD
  until_true "${4:-120}" replacement_ready "$1" "$2" "$3" || fail "$3 has no ready replacement"
}
# delete_until_first_step INDEX: deletes a worker's pod and prints what the replacement took, as
# first_step.py does.
delete_until_first_step() {
  "$root/e2e/first_step.py" "$namespace" "$(pod_of worker "$1")" \
    "pstrain.dev/job-name=$job,pstrain.dev/replica-type=worker,pstrain.dev/replica-index=$1" \
    "$state/log/audit.log"
}
replica_ready() { replacement_ready "$1" "$2" none; } # ROLE INDEX
replacement_ready() {
  local now
  now=$(pod_of "$1" "$2")
  [[ -n $now && $now != "$3" ]] &&
    [[ $(field "pod/$now" '{.status.conditions[?(@.type=="Ready")].status}') == True ]]
}

evict() { # POD
  k create --raw "/api/v1/namespaces/$namespace/pods/$1/eviction" -f - \
    <<<"{\"apiVersion\": \"policy/v1\", \"kind\": \"Eviction\", \"metadata\": {\"name\": \"$1\"}}"
}

# Process ids, on this machine, of the programs of that name in a pod.
pids_in_pod() { # POD PROGRAM
  local uid pid
  uid=$(uid_of "$1")
  find /sys/fs/cgroup/memory/pst-n* -path "*pod$uid/*" -name cgroup.procs -exec cat {} + |
    while read -r pid; do
      [[ $(cat "/proc/$pid/comm" 2>/dev/null) != "$2" ]] || echo "$pid"
    done
}
