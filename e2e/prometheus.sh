# A real Prometheus beside the control plane. To be sourced by cases, whose heads say
# `# tools: prometheus`.
# shellcheck shell=bash disable=SC2154 # variables of run.sh

prometheus_port=9090

# start_prometheus [INTERVAL]: as the chart's monitors would have it: what the operator says of a job's
# namespace stays.
start_prometheus() {
  cat >"$work/prometheus.yml" <<END
global: {scrape_interval: ${1:-2s}, evaluation_interval: 2s}
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
    --storage.tsdb.path="$work/prometheus-$namespace" --web.listen-address="127.0.0.1:$prometheus_port" \
    --log.level=warn >"$logs/prometheus.log" 2>&1 &
  prometheus=$!
  until_true 30 cluster exec curl -sf "http://127.0.0.1:$prometheus_port/-/ready"
  until_true 60 has_data pstrain_operator_build_info
}
stop_prometheus() { kill "$prometheus" && wait "$prometheus" || true; }

query() { # EXPRESSION
  cluster exec curl -sf --get --data-urlencode "query=$1" \
    "http://127.0.0.1:$prometheus_port/api/v1/query"
}
# A number, not only a series.
has_data() {
  query "$1" | python3 -c 'import json, math, sys
series = json.load(sys.stdin)["data"]["result"]
sys.exit(not any(math.isfinite(float(one["value"][1])) for one in series))'
}
# label_of EXPRESSION LABEL: the values of the label, each once.
label_of() {
  query "$1" | python3 -c 'import json, sys
series = json.load(sys.stdin)["data"]["result"]
print(*sorted({one["metric"][sys.argv[1]] for one in series}))' "$2"
}
