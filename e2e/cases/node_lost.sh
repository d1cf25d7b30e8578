# A node loses its network: the job continues before the node is back.
# nodes: 2

run_case() {
  start_long_job
  trap 'cluster heal n2' EXIT
  strike lose_node
  cluster heal n2
  until_is 90 True n2_ready
  succeeds 600
}

lose_node() {
  [[ -n $(k get pods --field-selector spec.nodeName=n2 -o name) ]] || fail "no pod runs on n2" || return 1
  cluster partition n2
  until_is 90 Unknown n2_ready
  local before
  before=$(done_percent)
  # Two percent more, with the node still away.
  until_true 180 has_done $((before + 2))
  report "with the node away the job went from $before % to $(done_percent) %"
}

n2_ready() { kubectl get node n2 -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'; }
