# The replicas of the built-in runtime know each other by tokens: every pod has them, copies of a
# worker's pod without a token and with one of their own are refused and counted, and the job trains to
# its end as if nobody had called. Where the keys of tokens cannot be read, a condition says so.

discovery=system:service-account-issuer-discovery
# Of a replica; operator/job/well_known.h.
token_folder=/etc/pstrain-identity

run_case() {
  start_long_job
  until_true 300 has_done 2
  every_pod_has_tokens
  tokens_are_for_this_job_alone
  guest without-token | k apply -f -
  guest foreign-token | k apply -f -
  local chief
  chief=$(pod_of chief 0)
  until_true 120 has_refused "$chief" unauthenticated
  until_true 120 has_refused "$chief" permission_denied
  refusals "$chief" >"$work/refusals"
  report "$(grep -v ' 0$' "$work/refusals")"
  has_done 98 && fail "the job was at its end before the guests came"
  succeeds 600
  nobody_verified
}

every_pod_has_tokens() {
  local pod
  for pod in $(k get pods -l "pstrain.dev/job-name=$job" -o 'jsonpath={.items[*].metadata.name}'); do
    [[ -n $(field "pod/$pod" '{.spec.volumes[?(@.name=="pstrain-identity")].name}') ]] ||
      fail "$pod has no tokens" || return 1
  done
  [[ $(field configmap/pstrain-issuer-keys '{.data.issuer}') == https://kubernetes.default.svc ]] ||
    fail "wrong issuer"
}

# A worker's own view of its tokens.
tokens_are_for_this_job_alone() {
  local pod pid uid folder role
  pod=$(pod_of worker 0)
  pid=$(pids_in_pod "$pod" pstrain-runtime | head -n 1)
  uid=$(uid_of_job)
  folder=/proc/$pid/root$token_folder
  for role in chief ps; do
    python3 - "$folder/$role" "pstrain.dev/$uid/$role" "$pod" <<'END'
import base64, json, sys
claims = open(sys.argv[1]).read().split(".")[1]
claims = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
assert claims["aud"] == [sys.argv[2]], claims
assert claims["kubernetes.io"]["pod"]["name"] == sys.argv[3], claims
END
    [[ $(api_status "$(cat "$folder/$role")") == 401 ]] || fail "the apiserver takes the token for $role" || return 1
  done
  [[ $(api_status "$(k create token default)") == 200 ]] || fail "the apiserver takes no token at all"
}
uid_of_job() { job_field '{.metadata.uid}'; }
api_status() { # TOKEN
  curl -sk -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $1" "https://127.0.0.1:$port/api"
}

# A pod that says that it is worker 0, and is not: without a token, or with those that the kubelet gives
# to a pod of its name.
guest() { # without-token|foreign-token
  k get pod "$(pod_of worker 0)" -o json | python3 -c '
import json, sys
name, pod = sys.argv[1], json.load(sys.stdin)
spec = pod["spec"]
for key in ("nodeName", "hostname", "subdomain"):
    spec.pop(key, None)
if name == "without-token":
    container = spec["containers"][0]
    container["env"] = [e for e in container["env"] if not e["name"].startswith("PSTRAIN_IDENTITY_")]
    for owner, key in ((spec, "volumes"), (container, "volumeMounts")):
        owner[key] = [item for item in owner[key] if item["name"] != "pstrain-identity"]
print(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}))' "$1"
}

refusals() { # POD
  local ip
  ip=$(field "pod/$1" '{.status.podIP}')
  cluster exec curl -sf "http://$ip:9464/metrics" | grep '^pstrain_refused_requests_total{'
}
has_refused() { # POD REASON
  refusals "$1" | grep "reason=\"$2\"" | grep -qv ' 0$'
}

# An operator that may not read the keys: jobs run without tokens and say so.
nobody_verified() {
  trap 'restore_discovery' EXIT
  kubectl delete clusterrolebinding "$discovery"
  restart_operator
  job=unverified
  adult_job "[{\"op\": \"replace\", \"path\": \"/metadata/name\", \"value\": \"$job\"}]" | k apply -f -
  until_is 120 IssuerKeysForbidden job_field '{.status.conditions[?(@.type=="PeersNotVerified")].reason}'
  [[ -z $(field "pod/$job-chief-0" '{.spec.volumes[?(@.name=="pstrain-identity")].name}') ]] ||
    fail "a pod has tokens that nobody can check"
  succeeds 300
}
restore_discovery() {
  kubectl create clusterrolebinding "$discovery" --clusterrole="$discovery" --group=system:serviceaccounts
  restart_operator
}
restart_operator() {
  # shellcheck disable=SC2046 # names
  kubectl --namespace "$operator_namespace" delete $(operator_pods) --wait
  kubectl --namespace "$operator_namespace" rollout status deployment/pstrain --timeout=120s
}
