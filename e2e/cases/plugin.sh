# Every command of `pstrain` that asks a cluster, as a person types it: under a kubeconfig whose
# credential plugin gives the token of a service account that may what docs/kubectl-plugin.md says.
# nodes: 1

run_case() {
  make_account
  asks_nobody || return 1
  start_long_job
  until_true 300 has_done 5
  asks || return 1
  is_refused || return 1
  restarts || return 1
  ask wait "$job" --timeout 20m &
  local waiting=$!
  ask logs "$job" --role chief --follow >"$work/followed" &
  local following=$!
  suspends || return 1
  succeeds 600
  wait "$waiting" || fail "wait ended with $?" || return 1
  wait "$following" || fail "logs --follow ended with $?" || return 1
  says 8 'lastEnd.message' logs "$job" --role worker --index 1 --previous
}

# ask COMMAND...: as that account.
ask() { "$programs/pstrain" "$1" --kubeconfig "$work/kubeconfig" -n "$namespace" "${@:2}"; }
# has TEXT COMMAND...: it succeeds, and prints that.
has() {
  local out rc=0
  out=$(ask "${@:2}") || rc=$?
  ((rc == 0)) && grep -qE -- "$1" <<<"$out" ||
    fail "pstrain ${*:2} ended with $rc and has no '$1': $out"
}
# says CODE TEXT COMMAND...: it fails so, with one line on stderr.
says() {
  local err rc=0
  err=$(ask "${@:3}" 2>&1 >/dev/null) || rc=$?
  ((rc == $1)) && grep -qE -- "$2" <<<"$err" && (($(wc -l <<<"$err") == 1)) ||
    fail "pstrain ${*:3} ended with $rc, not $1 and '$2': $err"
}

make_account() {
  k create serviceaccount person >/dev/null
  k apply -f - >/dev/null <<END
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: person}
rules:
- {apiGroups: [pstrain.dev], resources: [pstrainingjobs], verbs: [get, list, patch]}
- {apiGroups: [""], resources: [pods], verbs: [list, delete]}
- {apiGroups: [""], resources: [pods/log, pods/proxy], verbs: [get]}
- {apiGroups: [""], resources: [configmaps, services], verbs: [list]}
- {apiGroups: [events.k8s.io], resources: [events], verbs: [list]}
END
  k create rolebinding person --role person --serviceaccount "$namespace:person" >/dev/null
  k create serviceaccount stranger >/dev/null
  kubeconfig_of person >"$work/kubeconfig"
}
# A kubeconfig whose plugin, a script, prints a token of the account.
kubeconfig_of() { # ACCOUNT
  local plugin=$work/login-$1
  cat >"$plugin" <<END
#!/bin/sh
echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
 "status": {"token": "$(k create token "$1" --duration 1h)"}}'
END
  chmod +x "$plugin"
  kubectl config view --raw --minify -o json |
    python3 -c '
import json, sys
config = json.load(sys.stdin)
config["users"][0]["user"] = {"exec": {
    "apiVersion": "client.authentication.k8s.io/v1", "command": sys.argv[1],
    "interactiveMode": "Never", "provideClusterInfo": True}}
json.dump(config, sys.stdout)' "$plugin"
}

asks_nobody() {
  has 'no jobs in namespace' status || return 1
  says 8 'there is no job' status "$job" || return 1
}

asks() {
  has "^$job +Running" status || return 1
  has 'examples/s \(live\)' status "$job" || return 1
  has '"kind": "PSTrainingJob"' status "$job" -o json || return 1
  has "PSTrainingJob/$job" events "$job" || return 1
  has '^chief-0: ' logs "$job" --role chief || return 1
  has '^worker-[01]: [0-9]{4}-' logs "$job" --role worker --merge --timestamps --tail 5 || return 1
  ask logs "$job" --merge --timestamps | cut -d ' ' -f 2 >"$work/times"
  sort -c "$work/times" || fail 'merged lines are not in the order of their times' || return 1
  [[ $(ask logs "$job" --role worker --index 0 --tail 2 | wc -l) == 2 ]] || fail 'not two lines' || return 1
  has '^worker-0 +0 +[0-9.]+ examples/s +[0-9]+% +[0-9.]+ MiB' top "$job" || return 1
  has '^TF_CONFIG=.*"worker"' describe-config "$job" || return 1
  has '"optimizer": ' describe-config "$job" || return 1
  has 'has what the cluster knows' debug bundle "$job" -o "$work/$job.tar" || return 1
  tar -tf "$work/$job.tar" | sort | tr '\n' ' ' | tee "$work/names"
  grep -q 'agents/chief-0.0.metrics.txt .*job.json .*logs/worker-1.0.log .*pods.json' "$work/names" ||
    fail 'the bundle is not complete' || return 1
  ! tar -xOf "$work/$job.tar" README.txt | grep -A9 'Could not be read' || return 1
}

is_refused() {
  kubeconfig_of stranger >"$work/kubeconfig"
  says 7 'you may not get pstrainingjobs' status "$job" || return 1
  sed -i '2i exit 3' "$work/login-stranger"
  says 7 'login-stranger" has ended with exit code 3' status "$job" || return 1
  kubeconfig_of person >"$work/kubeconfig"
  sed 's/"server": "[^"]*"/"server": "https:\/\/127.0.0.1:1"/' "$work/kubeconfig" >"$work/away"
  local rc=0
  "$programs/pstrain" status --kubeconfig "$work/away" || rc=$?
  ((rc == 6)) || fail "status of a cluster that is away ended with $rc"
}

restarts() {
  local before
  before=$(pod_of worker 1)
  has 'is being deleted; another follows' restart "$job" worker-1 || return 1
  replaced worker 1 "$before" || return 1
}

suspends() {
  has 'is to be suspended' suspend "$job" || return 1
  phase_is Suspended 120 || return 1
  has 'is to be resumed' resume "$job" || return 1
  phase_is Running 120
}
