# The chart's rules in a Prometheus, an Alertmanager, and a receiver of ours. To be sourced by who sets
# `root`, `bin`, `work`, `logs`, the process id `prometheus`, its `prometheus_port` and, in front of
# what has to be in its network, `inside`.
# shellcheck shell=bash disable=SC2154 # those

alertmanager_port=${alertmanager_port:-9093}
receiver_port=${receiver_port:-9095}
alerting=() # process ids

# start_alerting HELM-OPTION...: the Prometheus of $work/prometheus.yml gets the chart's rules with
# these values. It has its targets already: an alert about what is absent would fire before the first
# scrape.
start_alerting() {
  helm template pstrain "$root/helm/pstrain" --show-only templates/prometheusrule.yaml \
    --api-versions monitoring.coreos.com/v1 --set metrics.prometheusRule.enabled=true \
    --set metrics.prometheusRule.runbookBaseUrl="http://127.0.0.1:$receiver_port/runbooks" "$@" |
    sed '1,/^spec:/d; s/^  //' >"$work/rules.yml"
  cat >>"$work/prometheus.yml" <<END
rule_files: ["$work/rules.yml"]
alerting: {alertmanagers: [{static_configs: [{targets: ["127.0.0.1:$alertmanager_port"]}]}]}
END
  # Each alert is a message of its own; one that goes on is not told again. A receiver that takes
  # longer than group_interval is tried again: the alert would come twice.
  cat >"$work/alertmanager.yml" <<END
route: {receiver: ours, group_by: ['...'], group_wait: 1s, group_interval: 10s, repeat_interval: 4h}
receivers:
- name: ours
  webhook_configs: [{url: "http://127.0.0.1:$receiver_port/alerts", send_resolved: true}]
END
  amtool check-config "$work/alertmanager.yml" >&2
  : >"$work/arrived"
  "${inside[@]}" python3 -B "$root/e2e/alert_receiver.py" "$receiver_port" "$work/arrived" \
    "$root/docs/runbooks" >"$logs/alert_receiver.log" 2>&1 &
  alerting+=($!)
  # No other Alertmanager is looked for.
  "${inside[@]}" "$bin/alertmanager" --config.file="$work/alertmanager.yml" \
    --storage.path="$work/alertmanager" --web.listen-address="127.0.0.1:$alertmanager_port" \
    --cluster.listen-address= --log.level=warn >"$logs/alertmanager.log" 2>&1 &
  alerting+=($!)
  until_true 120 "${inside[@]}" curl -sf "http://127.0.0.1:$alertmanager_port/-/ready"
  kill -HUP "$prometheus"
  until_true 60 has_rules
}
has_rules() {
  "${inside[@]}" curl -sf "http://127.0.0.1:$prometheus_port/api/v1/rules" | grep -q '"pstrain.alerts"'
}
stop_alerting() {
  local pid
  for pid in "${alerting[@]}"; do kill "$pid" && wait "$pid" || true; done
}

alert_is() { "$root/e2e/arrived_alerts.py" "$work/arrived" has "$1" "$2"; } # NAME firing|resolved
# Whether these alerts and no others have come, each once, and have resolved.
came_once() { "$root/e2e/arrived_alerts.py" "$work/arrived" once "$@"; } # NAME...
# What the Alertmanager has now: nothing when all is well.
active_alerts() {
  "${inside[@]}" "$bin/amtool" --alertmanager.url="http://127.0.0.1:$alertmanager_port" \
    --output=simple alert query | tail -n +2
}
