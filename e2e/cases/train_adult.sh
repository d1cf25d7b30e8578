# The example trains as on a laptop: 1 chief, 2 ps, 3 workers, 1 evaluator.

run_case() {
  make_volumes
  k apply -f "$root/examples/adult/job.yaml"
  succeeds 300
  local local_auc cluster_auc
  cluster_auc=$(job_field '{.status.training.metrics.auc}')
  (cd "$work" && "$programs/pstrain" run "$root/examples/adult/job.yaml" \
    --volume data="$root/examples/adult/data" --json >"$work/local.json")
  local_auc=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["auc"])' \
    "$work/local.json")
  report "AUC $cluster_auc in the cluster, $local_auc on this machine alone"
  awk -v a="$cluster_auc" -v b="$local_auc" \
    'BEGIN { d = a - b; exit !(a > 0.5 && d < 0.005 && d > -0.005) }' ||
    fail "the AUC differs by more than 0.005"
}
