# Image, agent and training in a cluster, without the operator: pods made by hand train the example.
# nodes: 2
# operator: none

run_case() {
  make_volumes
  python3 "$root/e2e/pods_by_hand.py" "$programs/pstrain" "$root/examples/adult/job.yaml" "$job" \
    "$namespace" "$training_image" chief=1 ps=2 worker=3 evaluator=1 | k apply -f - >/dev/null
  until_true 60 all_ready
  until_is 300 Succeeded field "pod/$job-chief-0" '{.status.phase}'
  local role
  for role in ps-0 ps-1 worker-0 worker-1 worker-2 evaluator-0; do
    until_is 30 Succeeded field "pod/$job-$role" '{.status.phase}'
  done
  counts_agree "$work/volumes/$namespace/adult/by-hand/result.json"
}

# Every shard has every example once.
counts_agree() { # RESULT
  cat "$1"
  python3 - "$1" <<'END'
import json, sys
result = json.load(open(sys.argv[1]))
names = ("examples_expected", "examples_committed", "applied_min", "applied_max")
counts = [result[name] for name in names]
sys.exit(0 if counts[0] > 0 and len(set(counts)) == 1 else f"{names}: {counts}")
END
}

all_ready() {
  [[ $(k get pods -o 'jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}' |
    grep -c True) == 7 ]]
}
