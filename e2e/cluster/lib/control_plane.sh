# etcd, apiserver, controllers, DNS and fake nodes. To be sourced.
# shellcheck shell=bash disable=SC2154 # variables of common.sh and cluster.sh

node_grace=${PSTRAIN_E2E_NODE_GRACE:-16}
evict_seconds=${PSTRAIN_E2E_EVICT_SECONDS:-5}

start_api() { # NETNS
  local ns=$1 listen=127.0.0.1 api=$port
  local -a audit_flags=()
  local -a net=(--endpoint-reconciler-type=none)
  if [[ $ns != - ]]; then
    listen=0.0.0.0 api=6443
    net=(--advertise-address="$cp_ip" --kubelet-preferred-address-types=InternalIP)
  fi
  launch etcd "$ns" "$bin/etcd" --data-dir="$state/etcd" --unsafe-no-fsync \
    --listen-client-urls="http://127.0.0.1:$((port + 1))" --advertise-client-urls="http://127.0.0.1:$((port + 1))" \
    --listen-peer-urls="http://127.0.0.1:$((port + 2))" --initial-advertise-peer-urls="http://127.0.0.1:$((port + 2))" \
    --initial-cluster="default=http://127.0.0.1:$((port + 2))" --quota-backend-bytes=4294967296 --log-level=warn
  if [[ -n $(get audit) ]]; then
    audit_flags=(--audit-policy-file="$(get audit)" --audit-log-path="$state/log/audit.log"
      --audit-log-mode=blocking --audit-log-maxsize=1024)
  fi
  # Endpoint routing lets webhooks named by Service reach pods although no
  # kube-proxy runs beside the apiserver.
  # shellcheck disable=SC2086
  launch kube-apiserver "$ns" "$bin/kube-apiserver" --etcd-servers="http://127.0.0.1:$((port + 1))" \
    --bind-address="$listen" --secure-port="$api" "${net[@]}" --service-cluster-ip-range="$service_cidr" \
    --tls-cert-file="$state/pki/apiserver.crt" --tls-private-key-file="$state/pki/apiserver.key" \
    --client-ca-file="$state/pki/ca.crt" --allow-privileged --authorization-mode=Node,RBAC \
    --enable-admission-plugins=NodeRestriction --enable-aggregator-routing \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$state/pki/sa.key" \
    --service-account-signing-key-file="$state/pki/sa.key" \
    --kubelet-client-certificate="$state/pki/admin.crt" --kubelet-client-key="$state/pki/admin.key" \
    --default-not-ready-toleration-seconds="$evict_seconds" \
    --default-unreachable-toleration-seconds="$evict_seconds" --shutdown-delay-duration=0s \
    "${audit_flags[@]}" ${PSTRAIN_E2E_APISERVER_ARGS:-}
  if [[ $ns != - ]]; then
    # Host 127.0.0.1:port -> unix socket -> apiserver inside the namespace.
    launch forward-inner "$ns" socat "UNIX-LISTEN:$state/run/api.sock,fork,unlink-early" "TCP:127.0.0.1:$api"
    launch forward-outer - socat "TCP-LISTEN:$port,bind=127.0.0.1,fork,reuseaddr" "UNIX-CONNECT:$state/run/api.sock"
  fi
  wait_for 180 "the apiserver" api_ready
  log "apiserver ready"
}

start_controllers() { # NETNS SERVER
  kubeconfig_for kcm "$2" "$state/kcm.kubeconfig"
  kubeconfig_for scheduler "$2" "$state/scheduler.kubeconfig"
  launch kube-controller-manager "$1" "$bin/kube-controller-manager" --kubeconfig="$state/kcm.kubeconfig" \
    --authentication-kubeconfig="$state/kcm.kubeconfig" --authorization-kubeconfig="$state/kcm.kubeconfig" \
    --bind-address=127.0.0.1 --secure-port="$((port + 3))" --leader-elect=false --use-service-account-credentials \
    --service-account-private-key-file="$state/pki/sa.key" --root-ca-file="$state/pki/ca.crt" \
    --cluster-signing-cert-file="$state/pki/ca.crt" --cluster-signing-key-file="$state/pki/ca.key" \
    --node-monitor-grace-period="${node_grace}s" --node-monitor-period=2s --flex-volume-plugin-dir="$state/flex" \
    --kube-api-qps=300 --kube-api-burst=600
  cat >"$state/scheduler.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: $state/scheduler.kubeconfig, qps: 300, burst: 600}
END
  launch kube-scheduler "$1" "$bin/kube-scheduler" --config="$state/scheduler.yaml" \
    --authentication-kubeconfig="$state/scheduler.kubeconfig" \
    --authorization-kubeconfig="$state/scheduler.kubeconfig" --bind-address=127.0.0.1 --secure-port="$((port + 4))"
}

start_dns() { # SERVER
  kubeconfig_for coredns "$1" "$state/coredns.kubeconfig"
  kubectl apply -f - >/dev/null <<END
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "pstrain:coredns"}
rules:
- {apiGroups: [""], resources: [services, namespaces, pods], verbs: [list, watch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "pstrain:coredns"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "pstrain:coredns"}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: "pstrain:coredns"}]
END
  cat >"$state/Corefile" <<END
.:53 {
  errors
  ready 127.0.0.1:8181
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $state/coredns.kubeconfig
    ttl 5
  }
  cache 5 {
    denial 9984 1
  }
}
END
  launch coredns pst-cp "$bin/coredns" -conf "$state/Corefile"
}

start_kwok() { # NETNS SERVER COUNT
  local taints='' i
  kubeconfig_for kwok "$2" "$state/kwok.kubeconfig"
  launch kwok "$1" "$bin/kwok" --kubeconfig="$state/kwok.kubeconfig" --config="$here/kwok-stages.yaml" \
    --manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake \
    --node-lease-duration-seconds=40 --cidr=10.245.0.0/16
  # Beside real nodes, the fake ones accept only pods that ask for them.
  [[ $1 == - ]] || taints='taints: [{key: kwok.x-k8s.io/node, value: fake, effect: NoSchedule}]'
  for ((i = 0; i < $3; i++)); do
    cat <<END
---
apiVersion: v1
kind: Node
metadata:
  name: fake-$i
  annotations: {kwok.x-k8s.io/node: fake}
  labels: {type: kwok, kubernetes.io/hostname: fake-$i, kubernetes.io/os: linux, kubernetes.io/arch: amd64}
spec: {$taints}
status:
  allocatable: {cpu: "32", memory: 256Gi, pods: "110", nvidia.com/gpu: "8"}
  capacity: {cpu: "32", memory: 256Gi, pods: "110", nvidia.com/gpu: "8"}
END
  done | kubectl create -f - >/dev/null
}
