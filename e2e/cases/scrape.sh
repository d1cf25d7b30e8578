# A real Prometheus finds the pods by itself; the series and the dashboard's queries have data.
# tools: prometheus

run_case() {
  start_long_job
  start_prometheus
  trap stop_prometheus EXIT
  strike true
  local series
  for series in pstrain_worker_examples_total pstrain_ps_updates_total; do
    until_true 60 has_labels "$series"
  done
  every_dashboard_query
  succeeds 600
}

start_prometheus() {
  cat >"$work/prometheus.yml" <<END
global: {scrape_interval: 2s}
scrape_configs:
- job_name: pods
  kubernetes_sd_configs: [{role: pod, kubeconfig_file: "$(cluster kubeconfig --inside)"}]
  relabel_configs:
  - {source_labels: [__meta_kubernetes_pod_container_port_name], regex: metrics, action: keep}
  - {source_labels: [__meta_kubernetes_namespace], target_label: namespace}
  - {source_labels: [__meta_kubernetes_pod_name], target_label: pod}
END
  # In the network of the control plane, from where pods can be reached.
  cluster exec prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/prometheus" \
    --web.listen-address=127.0.0.1:9090 --log.level=warn >"$logs/prometheus.log" 2>&1 &
  prometheus=$!
  until_true 30 cluster exec curl -sf http://127.0.0.1:9090/-/ready
}
stop_prometheus() { kill "$prometheus" && wait "$prometheus" || true; }

query() { # EXPRESSION
  cluster exec curl -sf --get --data-urlencode "query=$1" http://127.0.0.1:9090/api/v1/query
}

has_labels() {
  query "$1{job_name=\"$job\", replica_type!=\"\", replica_index!=\"\"}" |
    python3 -c 'import json, sys; sys.exit(not json.load(sys.stdin)["data"]["result"])'
}

# With the variables of the dashboard filled in as a viewer would.
every_dashboard_query() {
  python3 - "$root"/helm/pstrain/dashboards/*.json >"$work/queries" <<'END'
import json, sys
def targets(panels):
    for panel in panels:
        yield from (target["expr"] for target in panel.get("targets", []))
        yield from targets(panel.get("panels", []))
for name in sys.argv[1:]:
    for expression in targets(json.load(open(name))["panels"]):
        print(" ".join(expression.split()))
END
  local expression
  while read -r expression; do
    expression=${expression//\$__rate_interval/30s}
    expression=${expression//\$namespace/$namespace}
    expression=${expression//\$job_name/$job}
    until_true 60 has_data "$expression" || fail "no data: $expression" || return 1
  done <"$work/queries"
  [[ -s $work/queries ]] || fail "the dashboard has no query"
}
has_data() {
  query "$1" | python3 -c 'import json, sys; sys.exit(not json.load(sys.stdin)["data"]["result"])'
}
