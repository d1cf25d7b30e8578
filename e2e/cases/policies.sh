# NetworkPolicies and the protection of the operator's metrics, switched on: who reaches whom, by the
# policies' selectors against the live pods, as the network of this cluster enforces none, and who
# reads the operator's metrics, which is enforced.

run_case() {
  local scraper="{\"namespaceSelector\": {\"matchLabels\": {\"kubernetes.io/metadata.name\": \"$namespace\"}},
    \"podSelector\": {\"matchLabels\": {\"app\": \"scraper\"}}}"
  trap 'upgrade_operator' EXIT
  upgrade_operator --set networkPolicy.jobs.enabled=true,networkPolicy.operator.enabled=true \
    --set metrics.authorization.enabled=true --set-json "networkPolicy.scrapers=[$scraper]"
  start_long_job
  own_job other "$(own_replicas 1 "$(idle_program)" "terminationGracePeriodSeconds: 1")" | k apply -f -
  until_true 300 has_done 5 # the operator still hears of the progress
  until_true 60 field pod/other-ps-0 '{.metadata.name}'
  local name
  for name in scraper stranger; do pod_that_never_runs "$name" | k apply -f -; done
  who_reaches_whom
  who_reads_the_metrics
}

who_reaches_whom() {
  local operator
  operator=$(operator_pods | head -n 1)
  operator=$operator_namespace/${operator#pod/}
  local chief ps worker
  chief=$(here "$(pod_of chief 0)")
  ps=$(here "$(pod_of ps 0)")
  worker=$(here "$(pod_of worker 0)")
  reaches "$worker" "$ps" 2222 yes
  reaches "$ps" "$chief" 2222 yes
  local from
  for from in stranger scraper other-worker-0; do reaches "$(here "$from")" "$ps" 2222 no; done
  reaches "$operator" "$ps" 2222 no
  reaches "$operator" "$chief" 9464 yes
  reaches "$(here scraper)" "$ps" 9464 yes
  for from in stranger other-worker-0; do reaches "$(here "$from")" "$ps" 9464 no; done
  # A program of your own talks to itself on ports that nobody knows.
  reaches "$(here other-worker-0)" "$(here other-ps-0)" 5555 yes
  reaches "$worker" "$(here other-ps-0)" 5555 no
  reaches "$(here scraper)" "$operator" 8080 yes
  reaches "$(here stranger)" "$operator" 8080 no
  reaches "$(here scraper)" "$operator" 8081 no
}
here() { echo "$namespace/$1"; }
reaches() { # FROM TO PORT yes|no
  until_is 60 "$4" "$root/e2e/reaches.py" "$1" "$2" "$3"
  report "$1 -> $2:$3  $4"
}

who_reads_the_metrics() {
  local ip
  ip=$(kubectl --namespace "$operator_namespace" get "$(operator_pods | head -n 1)" -o 'jsonpath={.status.podIP}')
  k create serviceaccount prometheus
  kubectl create clusterrolebinding "$namespace-reader" --clusterrole=pstrain-metrics-reader \
    --serviceaccount="$namespace:prometheus"
  until_is 30 401 metrics_status "$ip"
  until_is 30 401 metrics_status "$ip" no-such-token
  until_is 30 403 metrics_status "$ip" "$(k create token default)"
  until_is 30 200 metrics_status "$ip" "$(k create token prometheus)"
  until_is 30 200 status_of "http://$ip:8081/healthz"
  kubectl delete clusterrolebinding "$namespace-reader"
}
metrics_status() { status_of "http://$1:8080/metrics" ${2:+-H "Authorization: Bearer $2"}; }
status_of() { cluster exec curl -s -o /dev/null -w '%{http_code}' "$@"; } # URL [CURL-OPTION...]
