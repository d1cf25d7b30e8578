# A program of the user's own under the agent: it sees TF_CONFIG, and is started again when it
# fails.

run_case() {
  job=own
  own_job "$job" "$(own_replicas 1)" "$(own_replicas 2)" | k apply -f -
  phase_is Succeeded 180
  [[ $(job_field '{.status.restarts.failures}') == 2 ]] ||
    fail "wanted 2 failures, got $(job_field '{.status.restarts.failures}')" || return 1
  [[ $(job_field '{.status.restarts.replicas.chief-0.attempt}') == 3 ]] || fail "not after the third attempt" || return 1
  sees_cluster
}

sees_cluster() {
  k logs own-worker-1 | sed -n 's/^TF_CONFIG=//p' >"$work/tf_config"
  python3 - "$work/tf_config" "$namespace" <<'END'
import json, sys
config = json.load(open(sys.argv[1]))
assert config["task"] == {"type": "worker", "index": 1}, config
assert config["cluster"]["ps"] == [f"own-ps-0.own.{sys.argv[2]}.svc:2222"], config
END
}
