# A node is drained: its replicas continue on the other node.
# nodes: 2

run_case() {
  start_long_job
  trap 'kubectl uncordon n2' EXIT
  strike drain
  succeeds 600
}

drain() {
  [[ -n $(k get pods --field-selector spec.nodeName=n2 -o name) ]] || fail "no pod runs on n2" || return 1
  kubectl drain n2 --force --ignore-daemonsets --delete-emptydir-data --timeout=120s
}
