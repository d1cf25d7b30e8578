# Jobs that cannot run, side by side: each has a condition and an event that say what to do, and
# costs the apiserver next to nothing while it waits.

most_calls=10
window_seconds=60

# Job, reason, and what its condition and its event tell people to do.
bad_jobs() {
  cat <<END
wrong-image|ImagePullBackOff|name an image that the nodes can pull
no-config-map|CreateContainerConfigError|create the ConfigMap that the template names
no-secret|PodNotStarted|Secret that does not exist
no-claim|Unschedulable|create the PersistentVolumeClaim that the template names
no-storage-class|Unschedulable|bind the claim: create a volume for it, or name a storageClassName
no-node|Unschedulable|ask for less in the template's resources, nodeSelector
over-quota|QuotaExceeded|raise the ResourceQuota or ask for less
privileged|PodSecurityViolation|remove from the template what the namespace's level does not admit
root|CreateContainerConfigError|the image runs as root: set securityContext.runAsUser
gated|SchedulingGated|example.com/no-such-queue; whoever set the gates removes them
init-image|ImagePullBackOff|name an image that the nodes can pull
typo|InvalidTemplate|.template.spec.containers[0].imagee: Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.containers[0].imagee"
no-volume|InvalidTemplate|.template.spec.containers[0].volumeMounts[0].name: Pod "no-volume-
unknown-feature|InvalidSpec|no_such_feature
END
}

run_case() {
  make_bad_jobs
  local name reason advice
  while IFS='|' read -r name reason advice; do
    until_true 150 tells "$name" "$reason" "$advice" || tell_what_it_tells "$name" || return 1
  done < <(bad_jobs)
  count_calls
  nothing_is_made typo || return 1
  nothing_is_made no-volume || return 1
  said_once typo || return 1
  advice_helps
  refused_at_admission
  failed_starts
}

# Pods that fail before their program runs: the job fails, and says of what.
failed_starts() {
  local program
  program=$(idle_program)
  failing_job no-agent "image: '$root_image', imagePullPolicy: Never, command: [/bin/sh, -c, sleep 100000], securityContext: {runAsUser: 65532}"
  failing_job init-fails "$program" "initContainers: [$(other_container fetch 'exit 7')]"
  failing_job no-program "$(own_container /usr/bin/no-such-program)"
  failing_job exits-1 "$(own_container /bin/sh, -c, '"echo no column age >&2; exit 1"')"
  fails_with no-agent StartError 'StartError, exit code 128: the image needs pstrain-agent in its PATH' || return 1
  fails_with init-fails InitContainerFailed 'InitContainerFailed, exit code 7: init container fetch' || return 1
  fails_with no-program CannotStart 'CannotStart, exit code 127: cannot ' || return 1
  fails_with exits-1 Error 'the training program exited with code 1; its last line: no column age'
}
failing_job() { # NAME CONTAINER [POD]
  {
    own_job "$1" "$(own_replicas 1 "${@:2}")"
    echo "  runPolicy: {backoffLimit: 0}"
  } | k apply -f -
}
fails_with() { # JOB REASON WORDS
  until_is 60 Failed field "pstj/$1" '{.status.phase}' || return 1
  local said
  said=$(field "pstj/$1" '{.status.conditions[?(@.type=="Failed")].message}')
  [[ $said == *" on node n"*": $3"* ]] || fail "job $1: the condition Failed says: $said" || return 1
  grep -qx "$2" <<<"$(field "pstj/$1" '{range .status.restarts.replicas.*}{.lastEnd.reason}{"\n"}{end}')" ||
    fail "job $1: no lastEnd has the reason $2" || return 1
  until_true 30 events_say "$1" "$3"
}
events_say() { grep -qF -- "$2" <<<"$(notes_of "$1" ReplicaFailed)"; }

make_bad_jobs() {
  k apply -f - <<END
apiVersion: v1
kind: ResourceQuota
metadata: {name: no-gpus}
spec: {hard: {requests.nvidia.com/gpu: "0"}}
---
# No storage class, and the cluster has no default.
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: unbound}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
END
  local program
  program=$(idle_program)
  bad_job wrong-image 'image: "localhost/no-such-image:1"'
  bad_job no-config-map "$program, envFrom: [{configMapRef: {name: settings}}]"
  bad_job no-secret "$program, volumeMounts: [{name: key, mountPath: /key}]" \
    'volumes: [{name: key, secret: {secretName: no-such-secret}}]'
  bad_job no-claim "$program" 'volumes: [{name: data, persistentVolumeClaim: {claimName: no-such-claim}}]'
  bad_job no-storage-class "$program" 'volumes: [{name: data, persistentVolumeClaim: {claimName: unbound}}]'
  bad_job no-node "$program" 'nodeSelector: {no-such-label: "true"}'
  bad_job over-quota "$program, resources: {limits: {nvidia.com/gpu: 1}}"
  bad_job privileged "$program, securityContext: {privileged: true, allowPrivilegeEscalation: true}"
  bad_job root "image: '$root_image', imagePullPolicy: Never, command: [/bin/sh, -c, sleep 100000]"
  bad_job gated "$program" 'schedulingGates: [{name: example.com/no-such-queue}]'
  bad_job init-image "$program" "initContainers: [{name: fetch, image: \"localhost/no-such-image:1\", $restricted}]"
  bad_job typo "$program, imagee: x"
  bad_job no-volume "$program, volumeMounts: [{name: data, mountPath: /data}]"
  # Beyond what the apiserver can check.
  adult_job '[{"op": "replace", "path": "/metadata/name", "value": "unknown-feature"},
    {"op": "add", "path": "/spec/training/features/-",
     "value": {"name": "crossed", "crossed": {"features": ["no_such_feature", "education"], "buckets": 10}}}]' |
    k apply -f -
}
# A template that no pod can be made of is found out before anything of its job is made.
nothing_is_made() { # JOB
  local made
  made=$(k get pods,services,configmaps --ignore-not-found -o name | grep "/$1\(-\|\$\)" || true)
  [[ -z $made ]] || fail "job $1 has $made"
}
said_once() { # JOB
  local said
  said=$(events_of "$1" | grep -c '^InvalidTemplate: ' || true)
  ((said == 1)) || fail "job $1: $said events InvalidTemplate"
}

# What pstrain sets itself or cannot share is refused in the words of `pstrain validate`.
refused_at_admission() {
  local program
  program=$(idle_program)
  refused_job own-restart-policy 'restartPolicy: Always' "set restartPolicy beside the role's template" || return 1
  refused_job own-hostname 'hostname: me' 'pstrain sets hostname itself' || return 1
  refused_job own-subdomain 'subdomain: us' 'pstrain sets subdomain itself' || return 1
  refused_job own-volume 'volumes: [{name: pstrain-job, emptyDir: {}}]' 'give the volume another name' || return 1
  program="$program, ports: [{name: metrics, containerPort: 9100}]"
  refused_job own-port '' 'give the port another name'
}
refused_job() { # NAME POD WORDS
  local said
  said=$(own_job "$1" "$(own_replicas 1 "$program" "$2")" | k apply -f - 2>&1) &&
    { fail "job $1 is taken"; return 1; }
  grep -qF -- "$3" <<<"$said" || fail "job $1: kubectl says: $said"
}

bad_job() { own_job "$1" "$(own_replicas 1 "${@:2}")" | k apply -f -; } # NAME CONTAINER [POD]

tells() { # JOB REASON ADVICE
  # What the column REASON of `kubectl get` has.
  [[ $(field "pstj/$1" '{.status.reason}') == "$2" ]] &&
    grep -qF -- "$3" <<<"$(conditions_of "$1" | grep "^$2: ")" &&
    grep -qF -- "$3" <<<"$(events_of "$1" | grep "^$2: ")"
}
# What is wrong: True is bad news of Blocked, False of Accepted.
conditions_of() {
  field "pstj/$1" '{range .status.conditions[*]}{.type}={.status}={.reason}: {.message}{"\n"}{end}' |
    sed -n 's/^Blocked=True=//p;s/^Accepted=False=//p'
}
events_of() {
  k get events --field-selector "involvedObject.kind=PSTrainingJob,involvedObject.name=$1,type=Warning" \
    -o 'jsonpath={range .items[*]}{.reason}: {.message}{"\n"}{end}'
}
tell_what_it_tells() {
  fail "job $1: conditions: $(conditions_of "$1"); events: $(events_of "$1")"
}

# All jobs wait now.
count_calls() {
  local since until name reason calls most=0
  since=$(timestamp)
  sleep "$window_seconds"
  until=$(timestamp)
  while IFS='|' read -r name reason _; do
    calls=$(operator_calls count "namespace=$namespace" "job=$name" "since=$since" "until=$until")
    report "$(printf '%-18s %-28s %3d calls to begin with, %2d in the %d s after' "$name" "$reason" \
      "$(operator_calls count "namespace=$namespace" "job=$name" "until=$since")" "$calls" "$window_seconds")"
    ((calls <= most)) || most=$calls
  done < <(bad_jobs)
  ((most <= most_calls)) || fail "more than $most_calls calls for one job"
}

# Who does what the condition says is not blocked any more.
advice_helps() {
  k create configmap settings
  k delete resourcequota no-gpus
  until_is 120 False blocked no-config-map
  until_is 120 Unschedulable reason_of over-quota # no node has such a device
  own_job typo "$(own_replicas 1 "$(idle_program)")" | k apply -f -
  until_is 60 True accepted typo
  until_true 60 k get service typo
}
accepted() { field "pstj/$1" '{.status.conditions[?(@.type=="Accepted")].status}'; }
blocked() { field "pstj/$1" '{.status.conditions[?(@.type=="Blocked")].status}'; }
reason_of() { field "pstj/$1" '{.status.conditions[?(@.type=="Blocked")].reason}'; }
