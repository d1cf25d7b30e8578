#!/usr/bin/env bash
# alerts.sh SOURCE: what the e2e case `alerts` stands on, with series that are made here: the chart's
# rules in a real Prometheus, a real Alertmanager and our receiver. An alert comes once, its link
# opens its runbook, it resolves. 77 where the programs are not built, unless PSTRAIN_REQUIRE_CLUSTER
# is set.
set -euo pipefail
root=$1
# shellcheck source=e2e/cluster/lib/common.sh
. "$root/e2e/cluster/lib/common.sh"
# shellcheck source=e2e/cluster/lib/ports.sh
. "$root/e2e/cluster/lib/ports.sh"
# shellcheck source=e2e/lib.sh
. "$root/e2e/lib.sh"

for tool in helm prometheus alertmanager amtool; do
  if [[ -x $bin/$tool ]]; then continue; fi
  echo "SKIPPED: $tool is not built (e2e/cluster/build-tools.sh $tool)"
  if [[ -n ${PSTRAIN_REQUIRE_CLUSTER:-} ]]; then exit 1; fi
  exit 77
done
export PATH=$bin:$PATH

work=$(mktemp -d)
# shellcheck disable=SC2034 # of alerting.sh
logs=$work inside=(env)
claim_ports 4
alertmanager_port=$claimed_port receiver_port=$((claimed_port + 1))
prometheus_port=$((claimed_port + 2)) page_port=$((claimed_port + 3))
# shellcheck source=e2e/alerting.sh
. "$root/e2e/alerting.sh"
others=()
clean_up() {
  rc=$?
  stop_alerting
  kill "${others[@]}" 2>/dev/null || true
  ((rc == 0)) || tail -n 20 "$work"/*.log
  rm -rf "$work"
}
trap clean_up EXIT

# series BLOCKED LEADS: what is scraped from now on.
series() {
  mkdir -p "$work/page"
  cat >"$work/page/new" <<END
pstrain_job_info{namespace="n",job_name="j",program="own",queue="",alerts="on"} 1
pstrain_job_status_condition{namespace="n",job_name="j",condition="Blocked"} $1
leader_election_master_status{name="pstrain"} $2
END
  mv "$work/page/new" "$work/page/metrics"
}

series 0 1
cat >"$work/prometheus.yml" <<END
global: {scrape_interval: 5s, evaluation_interval: 1s}
scrape_configs:
- job_name: made
  honor_labels: true
  fallback_scrape_protocol: PrometheusText0.0.4
  static_configs: [{targets: ["127.0.0.1:$page_port"]}]
END
python3 -m http.server --bind 127.0.0.1 --directory "$work/page" "$page_port" \
  >"$work/page.log" 2>&1 &
others+=($!)
"$bin/prometheus" --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/prometheus" \
  --web.listen-address="127.0.0.1:$prometheus_port" --log.level=warn >"$work/prometheus.log" 2>&1 &
prometheus=$!
others+=("$prometheus")
has_leader() {
  curl -sf --get --data-urlencode 'query=leader_election_master_status == 1' \
    "http://127.0.0.1:$prometheus_port/api/v1/query" | grep -q '"name":"pstrain"'
}
until_true 120 has_leader
start_alerting --set metrics.prometheusRule.interval=1s \
  --set metrics.prometheusRule.alerts.JobBlocked.for=2s \
  --set metrics.prometheusRule.alerts.PSTrainingOperatorDown.for=2s

# comes_and_goes ALERT BLOCKED LEADS
comes_and_goes() {
  if alert_is "$1" firing; then fail "$1 has come before its time"; fi
  series "$2" "$3"
  until_true 120 alert_is "$1" firing
  [[ $(active_alerts) == "$1 "* ]] || fail "the Alertmanager does not have $1: $(active_alerts)"
  series 0 1
  until_true 120 alert_is "$1" resolved
}
comes_and_goes JobBlocked 1 1
comes_and_goes PSTrainingOperatorDown 0 0
until_is 60 "" active_alerts
came_once JobBlocked PSTrainingOperatorDown

echo "alerts come once, link to their runbooks and resolve"
