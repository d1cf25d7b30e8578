# Certificates and kubeconfigs. To be sourced.
# shellcheck shell=bash disable=SC2154 # variables of common.sh

cert() { # NAME SUBJECT [SAN]
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$2" \
    -keyout "$state/pki/$1.key" -out "$state/pki/$1.csr" 2>/dev/null
  openssl x509 -req -in "$state/pki/$1.csr" -CA "$state/pki/ca.crt" -CAkey "$state/pki/ca.key" \
    -CAcreateserial -days 30 -out "$state/pki/$1.crt" \
    -extfile <(echo "extendedKeyUsage=serverAuth,clientAuth"; [[ -z ${3:-} ]] || echo "subjectAltName=$3") 2>/dev/null
}

kubeconfig_for() { # NAME SERVER FILE
  cat >"$3" <<END
apiVersion: v1
kind: Config
clusters: [{name: pstrain-e2e, cluster: {server: "$2", certificate-authority: $state/pki/ca.crt}}]
users: [{name: $1, user: {client-certificate: $state/pki/$1.crt, client-key: $state/pki/$1.key}}]
contexts: [{name: pstrain-e2e, context: {cluster: pstrain-e2e, user: $1}}]
current-context: pstrain-e2e
END
}

make_pki() {
  openssl req -x509 -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=pstrain-e2e \
    -keyout "$state/pki/ca.key" -out "$state/pki/ca.crt" 2>/dev/null
  openssl ecparam -genkey -name prime256v1 -noout -out "$state/pki/sa.key"
  local dns=DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local
  cert apiserver /CN=kube-apiserver "$dns,IP:127.0.0.1,IP:$cp_ip,IP:10.96.0.1"
  cert admin /O=system:masters/CN=admin
  cert kcm /CN=system:kube-controller-manager
  cert scheduler /CN=system:kube-scheduler
  cert proxy /CN=system:kube-proxy
  cert coredns /CN=pstrain:coredns
  cert kwok /O=system:masters/CN=kwok
}
