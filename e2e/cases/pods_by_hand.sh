# Image, agent and training in a cluster, without the operator: pods made by hand train the example.
# nodes: 2
# operator: none

run_case() {
  make_volumes
  # Every pod on a node of its own choice; a disruption is not part of this case.
  python3 "$root/e2e/pods_by_hand.py" "$programs/pstrain" "$root/examples/adult/job.yaml" "$job" \
    "$namespace" "$training_image" chief=1 ps=2 worker=3 evaluator=1 | k apply -f - >/dev/null
  until_true 60 all_ready
  until_is 300 Succeeded field "pod/$job-chief-0" '{.status.phase}'
  local role
  for role in ps-0 ps-1 worker-0 worker-1 worker-2 evaluator-0; do
    until_is 30 Succeeded field "pod/$job-$role" '{.status.phase}'
  done
  local result
  result=$(find "$work/volumes/$namespace" -name 'result*' -type f)
  [[ -n $result ]] || { fail "there is no result"; return 1; }
  cat "$result"
  # shellcheck disable=SC2016 # Python
  python3 - "$result" <<'END'
import json, sys
result = json.load(open(sys.argv[1]))
print(json.dumps(result))
END
}

all_ready() {
  [[ $(k get pods -o 'jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}' |
    grep -c True) == 7 ]]
}
