# A real Prometheus finds the pods by itself; the series and the dashboard's queries have data.
# The tests chart_rules and metric_pages_lint need promtool.
# tools: prometheus promtool

run_case() {
  start_long_job
  start_prometheus
  trap stop_prometheus EXIT
  until_true 300 has_done 5
  has_series worker pstrain_worker_examples_total
  has_series ps pstrain_ps_updates_total
  has_series ps pstrain_ps_busy_seconds_total
  every_dashboard_query
}

# As the chart's monitors would have it: what the operator says of a job's namespace stays.
start_prometheus() {
  cat >"$work/prometheus.yml" <<END
global: {scrape_interval: 2s}
scrape_configs:
- job_name: training
  kubernetes_sd_configs:
  - {role: pod, kubeconfig_file: "$(cluster kubeconfig --inside)", selectors: [{role: pod, label: pstrain.dev/job-name}]}
  relabel_configs: &pod
  - {source_labels: [__meta_kubernetes_pod_container_port_name], regex: metrics, action: keep}
  - {source_labels: [__meta_kubernetes_namespace], target_label: namespace}
  - {source_labels: [__meta_kubernetes_pod_name], target_label: pod}
- job_name: operator
  honor_labels: true
  kubernetes_sd_configs:
  - {role: pod, kubeconfig_file: "$(cluster kubeconfig --inside)", namespaces: {names: [$operator_namespace]}}
  relabel_configs: *pod
END
  # In the network of the control plane, from where pods can be reached. Not through cluster(): the
  # process that is stopped later has to be Prometheus itself.
  "$root/e2e/cluster/cluster.sh" exec "$bin/prometheus" --config.file="$work/prometheus.yml" \
    --storage.tsdb.path="$work/prometheus" --web.listen-address=127.0.0.1:9090 --log.level=warn \
    >"$logs/prometheus.log" 2>&1 &
  prometheus=$!
  until_true 30 cluster exec curl -sf http://127.0.0.1:9090/-/ready
}
stop_prometheus() { kill "$prometheus" && wait "$prometheus" || true; }

query() { # EXPRESSION
  cluster exec curl -sf --get --data-urlencode "query=$1" http://127.0.0.1:9090/api/v1/query
}

# has_series ROLE NAME: each replica of the role has the series under its own labels.
has_series() {
  local replicas
  replicas=$(job_field "{.spec.replicaSpecs.$1.replicas}")
  until_is 60 "$(seq -s ' ' 0 $((replicas - 1)))" indices_of \
    "$2{namespace=\"$namespace\", job_name=\"$job\", replica_type=\"$1\"}"
  report "$2: $replicas replicas of role $1"
}
indices_of() {
  query "$1" | python3 -c 'import json, sys
series = json.load(sys.stdin)["data"]["result"]
print(*sorted({one["metric"]["replica_index"] for one in series}))'
}

# With the variables of the dashboard filled in as a viewer would.
every_dashboard_query() {
  python3 "$root/e2e/dashboard_queries.py" "$root"/helm/pstrain/dashboards/*.json >"$work/queries"
  local expression
  while read -r expression; do
    expression=${expression//\$__rate_interval/30s}
    expression=${expression//\$namespace/$namespace}
    expression=${expression//\$job_name/$job}
    until_true 60 has_data "$expression" || fail "no data: $expression" || return 1
  done <"$work/queries"
  [[ -s $work/queries ]] || fail "the dashboard has no query" || return 1
  report "$(grep -c . "$work/queries") queries of the dashboard have data"
}
# A number, not only a series.
has_data() {
  query "$1" | python3 -c 'import json, math, sys
series = json.load(sys.stdin)["data"]["result"]
sys.exit(not any(math.isfinite(float(one["value"][1])) for one in series))'
}
