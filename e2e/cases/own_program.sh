# A program that uses libpstrain, one binary in all roles: its pods of chief, ps and worker are deleted
# on the way, and it ends with every call once on every shard.

run_case() {
  job=custom-training
  make_volumes
  long_program | k apply -f - >/dev/null
  at_calls 1000 delete_and_await worker 1
  at_calls 2500 delete_and_await ps 0
  # The program goes on from its last mark.
  at_calls 4000 delete_and_await chief 0
  succeeds 600
  local accuracy
  accuracy=$(k logs -l "pstrain.dev/job-name=$job,pstrain.dev/replica-type=chief" --tail=-1 |
    awk '/^epoch/ { accuracy = $NF } END { print accuracy }')
  report "accuracy $accuracy"
  awk -v a="$accuracy" 'BEGIN { exit !(a > 0.81) }' || fail "the accuracy is $accuracy"
}

# The example with many epochs, and workers that may use little of a processor.
long_program() {
  local role patch=''
  for role in chief ps worker; do
    patch+="{\"op\": \"add\", \"value\": \"30\",
      \"path\": \"/spec/replicaSpecs/$role/template/spec/containers/0/command/-\"},"
  done
  kubectl patch --local -f "$root/examples/custom_training/job.yaml" --type=json -o yaml -p "[$patch
    {\"op\": \"add\", \"value\": {\"limits\": {\"cpu\": \"200m\"}},
     \"path\": \"/spec/replicaSpecs/worker/template/spec/containers/0/resources\"}]"
}

calls() { job_field '{.status.training.examplesCommitted}'; }
has_calls() { local now; now=$(calls); [[ $now =~ ^[0-9]+$ ]] && ((now >= $1)); }
at_calls() { # CALLS COMMAND...
  until_true 300 has_calls "$1" || fail "the job has $(calls) calls, not $1" || return 1
  shift
  "$@"
}
delete_and_await() { # ROLE INDEX
  local pod
  pod=$(pod_of "$1" "$2")
  k delete pod "$pod" --wait=false
  replaced "$1" "$2" "$pod"
}
