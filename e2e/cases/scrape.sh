# A real Prometheus finds the pods by itself; while replicas are lost, every query of every dashboard
# has data. The tests chart_rules and metric_pages_lint need promtool.
# tools: prometheus promtool

# shellcheck source=e2e/prometheus.sh
. "$root/e2e/prometheus.sh"

run_case() {
  start_prometheus
  trap stop_prometheus EXIT
  # It does not end while it is asked about.
  start_long_job '' 4000
  until_true 300 has_data 'sum(rate(pstrain_worker_steps_total[30s])) > 0'
  has_series worker pstrain_worker_examples_total
  has_series ps pstrain_ps_updates_total
  has_series ps pstrain_ps_busy_seconds_total
  # What a query about losses has to show.
  local worker ps
  worker=$(pod_of worker 0) ps=$(pod_of ps 0)
  k delete pod "$worker" "$ps" --wait=false >/dev/null
  replaced worker 0 "$worker"
  replaced ps 0 "$ps"
  every_dashboard_query
}

# has_series ROLE NAME: each replica of the role has the series under its own labels.
has_series() {
  local replicas
  replicas=$(job_field "{.spec.replicaSpecs.$1.replicas}")
  until_is 60 "$(seq -s ' ' 0 $((replicas - 1)))" label_of \
    "$2{namespace=\"$namespace\", job_name=\"$job\", replica_type=\"$1\"}" replica_index
  report "$2: $replicas replicas of role $1"
}

# With the variables of the dashboards filled in as a viewer would.
every_dashboard_query() {
  python3 -B "$root/e2e/dashboard_queries.py" __rate_interval=30s __range=10m \
    namespace="$namespace" job_name="$job" "instance=$(label_of pstrain_operator_build_info instance)" \
    "$root"/helm/pstrain/dashboards/*.json >"$work/queries"
  local expression
  while read -r expression; do
    until_true 60 has_data "$expression" || fail "no data: $expression" || return 1
  done <"$work/queries"
  [[ -s $work/queries ]] || fail "the dashboards have no query" || return 1
  report "$(grep -c . "$work/queries") queries of the dashboards have data"
}
