# The operator of the cluster under test. To be sourced.
# shellcheck shell=bash disable=SC2154 # variables of run.sh

operator_namespace=pstrain-system

install_operator() {
  kubectl create namespace "$operator_namespace" >/dev/null
  kubectl label namespace "$operator_namespace" pod-security.kubernetes.io/enforce=restricted >/dev/null
  helm_operator install
}

# upgrade_operator HELM-OPTION...: the same operator with other values; without any, as installed.
upgrade_operator() { helm_operator upgrade --reset-values "$@"; }

helm_operator() { # install|upgrade HELM-OPTION...
  # On the first node, which no case takes away. Cases strike when a share of the examples is done:
  # they have to see that share in time.
  helm "$1" pstrain "$root/helm/pstrain" --namespace "$operator_namespace" --wait --timeout 120s \
    --set-string 'nodeSelector.kubernetes\.io/hostname=n1' --set progressStatusPeriod=1s "${@:2}" >/dev/null
}

operator_pods() {
  kubectl --namespace "$operator_namespace" get pods -l app.kubernetes.io/component=operator -o name
}
operator_logs() {
  local pod
  for pod in $(operator_pods); do kubectl --namespace "$operator_namespace" logs "$pod" --all-containers; done
}

# operator_calls QUESTION...: what e2e/audit.py knows of the operator's calls.
operator_calls() {
  "$root/e2e/audit.py" "$state/log/audit.log" \
    "system:serviceaccount:$operator_namespace:pstrain" "$@"
}
