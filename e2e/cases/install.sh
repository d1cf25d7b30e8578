# The chart installs an operator that is Ready, in a namespace that takes restricted pods alone.

run_case() {
  helm status pstrain --namespace "$operator_namespace" -o json | grep -q '"status":"deployed"'
  kubectl --namespace "$operator_namespace" wait --for=condition=Available --timeout=60s deployment --all
  kubectl wait --for=condition=Established --timeout=30s crd/pstrainingjobs.pstrain.dev
  kubectl get pstj --namespace "$namespace"
  local place
  for place in "$operator_namespace" "$namespace"; do
    refuses_root_pods "$place" || fail "namespace $place takes pods that are not restricted" || return 1
  done
}

refuses_root_pods() {
  { kubectl --namespace "$1" run root --image="$training_image" --dry-run=server 2>&1 || true; } |
    grep -q 'violates PodSecurity "restricted'
}
