# What the alerts are for happens, and each comes once, links to its runbook and resolves when the
# cause is gone: through a real Prometheus and a real Alertmanager, by the chart's rules with short
# windows.
# tools: prometheus alertmanager amtool

# shellcheck source=e2e/prometheus.sh
. "$root/e2e/prometheus.sh"
# shellcheck source=e2e/alerting.sh
. "$root/e2e/alerting.sh"

inside=("$root/e2e/cluster/cluster.sh" exec)

# What happens | the alert that comes of it | what ends it.
faults='
stop_progress     PSTrainingJobStalled    go_on
crash_ps          BackoffNearlyUsed       admit_more_failures
starve_checkpoint CheckpointStale         feed_checkpoint
block_job         JobBlocked              unblock_job
stop_operator     PSTrainingOperatorDown  start_operator
'
# A scrape that comes late on a busy machine is no alert yet.
windows=(
  interval=2s window=20s alerts.PSTrainingJobStalled.for=20s alerts.CheckpointStale.for=20s
  alerts.JobBlocked.for=5s alerts.PSTrainingOperatorDown.for=20s
)

run_case() {
  trap clean_up_case EXIT
  start_jobs
  start_prometheus 5s
  # To --set a number with a point is a string.
  start_alerting "${windows[@]/#/--set=metrics.prometheusRule.}" \
    --set-json=metrics.prometheusRule.alerts.BackoffNearlyUsed.share=0.8
  local fault alert end names=()
  while read -r fault alert end <&3; do
    [[ -n $fault ]] || continue
    names+=("$alert")
    strikes "$fault" "$alert" firing || return 1
    strikes "$end" "$alert" resolved || return 1
  done 3<<<"$faults"
  came_once "${names[@]}" || return 1
  until_is 30 '' active_alerts
  report "$(came_once "${names[@]}")"
}
clean_up_case() {
  [[ -z ${prometheus:-} ]] || stop_prometheus
  stop_alerting
  feed_checkpoint
  start_operator
}

# strikes COMMAND ALERT STATUS
strikes() {
  local begun=$SECONDS
  "$1" || { fail "$1 has failed"; return 1; }
  until_true 180 alert_is "$2" "$3" || fail "after $1 $2 is not $3" || return 1
  report "$1: $2 is $3 after $((SECONDS - begun)) s"
}

# Both go on until their namespace is gone. Of `adult` no checkpoint is due by time: it has none while
# it makes no progress. `saving` has one each 5 s.
start_jobs() {
  make_volumes
  long_job '' 4000 | with "$(checkpoints 0 500)" "$(set_field /spec/runPolicy/backoffLimit 3)" |
    k apply -f -
  long_job '' 4000 | with "$(checkpoints 5 0)" "$(set_field /metadata/name '"saving"')" \
    "$(set_field /spec/replicaSpecs/worker/replicas 1)" | k apply -f -
  until_true 300 has_checkpoint adult
  until_true 300 has_checkpoint saving
}
# with CHANGE...: the manifest of stdin, changed.
with() {
  local IFS=,
  kubectl patch --local -f - --type=json -p "[$*]" -o yaml
}
set_field() { echo "{\"op\": \"add\", \"path\": \"$1\", \"value\": $2}"; } # PATH VALUE
checkpoints() { # SECONDS STEPS
  set_field /spec/training/checkpoint "{\"directory\": \"/checkpoints/alerts\",
    \"everySeconds\": $1, \"everySteps\": $2}"
}
# Every shard has examples, by the last checkpoint.
has_checkpoint() { (($(field "pstj/$1" '{.status.training.examplesAppliedMin}') > 0)); }

# --- the faults ------------------------------------------------------------------

signal_workers() {
  local index pid pids=()
  for index in 0 1 2; do
    pid=$(pids_in_pod "$(pod_of worker "$index")" pstrain-runtime)
    [[ -n $pid ]] || { fail "worker $index has no training process"; return 1; }
    pids+=("$pid")
  done
  kill "-$1" "${pids[@]}"
}
stop_progress() { signal_workers STOP; }
go_on() { signal_workers CONT; }

crash_ps() { kill -KILL "$(pids_in_pod "$(pod_of ps 1)" pstrain-runtime)"; }
admit_more_failures() {
  k patch "pstj/$job" --type=merge -p '{"spec": {"runPolicy": {"backoffLimit": 20}}}'
}

# Nothing new can be written; the replicas are not root. Files go while they are listed.
starve_checkpoint() { chmod -R a-w "$work/volumes/$namespace" || true; }
feed_checkpoint() { chmod -R u+w "$work/volumes/$namespace" || true; }

block_job() {
  own_job blocked "$(own_replicas 1 "$(idle_program), envFrom: [{configMapRef: {name: settings}}]")" |
    k apply -f -
}
unblock_job() { k create configmap settings; }

stop_operator() { scale_operator 0; }
start_operator() { scale_operator 1; }
scale_operator() {
  kubectl --namespace "$operator_namespace" scale deployment/pstrain --replicas "$1"
  if (($1 > 0)); then
    kubectl --namespace "$operator_namespace" rollout status deployment/pstrain --timeout=120s
  fi
}
