# A pod of higher priority preempts a worker's pod; the worker's next pod is on the other node.
# nodes: 2

run_case() {
  # Its workers ask for as much of a processor as they may use.
  start_long_job
  strike preempt_worker
  succeeds 600
  [[ $(job_field '{.status.restarts.failures}') =~ ^0?$ ]] || fail "a preemption was counted as a failure"
}

preempt_worker() {
  local pod node
  pod=$(pod_of worker 1)
  node=$(node_of "$pod")
  k apply -f - <<END
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: $namespace}
value: 1000
---
apiVersion: v1
kind: Pod
metadata: {name: important}
spec:
  priorityClassName: $namespace
  nodeSelector: {kubernetes.io/hostname: $node}
  terminationGracePeriodSeconds: 1
  securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: c
    image: $own_program_image
    imagePullPolicy: Never
    command: [/bin/sh, -c, sleep 100000]
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    resources: {requests: {cpu: $(allocatable_minus_100m "$node")}}
END
  replaced worker 1 "$pod"
  k delete pod important --wait=false
  kubectl delete priorityclass "$namespace"
}

# All but 100m of the node's processors: no room is left for a worker.
allocatable_minus_100m() {
  kubectl get node "$1" -o 'jsonpath={.status.allocatable.cpu}' | awk '{ print $1 * 1000 - 100 "m" }'
}
