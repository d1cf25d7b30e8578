#!/usr/bin/env bash
# A real Kubernetes cluster on one machine, for tests.
#
#   cluster.sh up --api-only             etcd + kube-apiserver on loopback (no root needed)
#   cluster.sh up --kwok N               the same + controller manager + scheduler + N fake nodes
#   cluster.sh up --nodes N [--kwok M]   N real nodes (kubelet, containerd, kube-proxy, DNS), root only
#       --audit POLICY                   audit by that policy file, log in $STATE/log/audit.log
#   cluster.sh down                      stop everything and remove every trace
#   cluster.sh kubeconfig [--inside]     path of the administrator's kubeconfig, or of one for `exec`
#   cluster.sh load-image TAR...         import image archives into every real node
#   cluster.sh exec [NODE] CMD...        run CMD in the network of the control plane, or of NODE (n1, n2, ...)
#   cluster.sh partition NODE | heal NODE      disconnect and reconnect a node's network
#   cluster.sh node-kill NODE | node-start NODE    power a node off (SIGKILL to all) and on again
#   cluster.sh api-restart               SIGKILL the apiserver, start it again, wait until it is ready
#   cluster.sh restart NAME              the same for any component (names: cluster.sh status)
#   cluster.sh status                    components with pid, state and resident memory
#
# Environment:
#   PSTRAIN_E2E_DIR         cache, default ${XDG_CACHE_HOME:-$HOME/.cache}/pstrain/e2e (programs in bin/)
#   PSTRAIN_E2E_STATE       state of the running cluster, default $PSTRAIN_E2E_DIR/cluster
#   PSTRAIN_E2E_PORT        port of the API on 127.0.0.1, default 16443; the next four ports are used too
#   PSTRAIN_E2E_APISERVER_ARGS   more flags for kube-apiserver
#   PSTRAIN_E2E_NODE_GRACE       seconds without heartbeat until a node is NotReady, default 16
#   PSTRAIN_E2E_CNI_BIN          directory of the CNI programs, default /usr/lib/cni
#   PSTRAIN_E2E_EVICT_SECONDS    default toleration for not-ready and unreachable nodes, default 5
#
# With real nodes, every component runs in network namespaces of its own (pst-cp
# for the control plane, pst-nK for node nK) without an uplink: nothing can leave
# the machine.  The API is forwarded to 127.0.0.1:$PSTRAIN_E2E_PORT of the host.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
service_cidr=10.96.0.0/16
pod_cidr=10.244.0.0/16 # node nK has 10.244.K.0/24
cp_ip=10.99.0.1        # node nK has 10.99.0.(10+K)
node_ip() { echo "10.99.0.$((10 + ${1#n}))"; }

for part in common processes keys control_plane nodes; do
  # shellcheck source=/dev/null # one of lib/*.sh
  . "$here/lib/$part.sh"
done

cmd_up() {
  local nodes='' kwok=0 api_only='' audit='' ns=- server="https://127.0.0.1:$port" k name
  while (($#)); do
    case $1 in
      --nodes) nodes=$2; shift 2 ;;
      --kwok) kwok=$2; shift 2 ;;
      --api-only) api_only=1; shift ;;
      --audit) audit=$(realpath "$2"); shift 2 ;;
      *) die "up: unknown option '$1'" ;;
    esac
  done
  [[ -z $api_only || (-z $nodes && $kwok == 0) ]] || die "--api-only excludes --nodes and --kwok"
  if [[ -n $api_only ]] || { [[ -z $nodes ]] && ((kwok > 0)); }; then nodes=0; fi
  nodes=${nodes:-1}
  [[ ! -e $state/run ]] || die "a cluster is there already ($state); run: cluster.sh down"
  local -a need=(etcd kube-apiserver)
  [[ -n $api_only ]] || need+=(kubectl kube-controller-manager kube-scheduler)
  ((kwok == 0)) || need+=(kwok)
  ((nodes == 0)) || need+=(kubelet kube-proxy coredns)
  for name in "${need[@]}"; do
    [[ -x $bin/$name ]] || die "$bin/$name is missing; run: build-tools.sh ${need[*]}"
  done
  if ((nodes > 0)); then
    ((EUID == 0)) || die "real nodes need root"
    [[ -d /sys/fs/cgroup/memory ]] || die "real nodes need cgroup v1 (the only layout tried)"
    for name in containerd ctr runc iptables socat ip "$cni_bin/bridge"; do
      command -v "$name" >/dev/null || die "$name is missing (containerd runc containernetworking-plugins iptables socat iproute2)"
    done
    [[ ! -e /run/netns/pst-cp ]] || die "namespace pst-cp exists: another cluster runs, or: cluster.sh down"
  fi

  mkdir -p "$state"/{run,log,pki}
  trap 'rc=$?; if ((rc)); then echo "cluster.sh: up failed, cleaning up; logs stay in $state.failed" >&2; rm -rf "$state.failed"; cp -r "$state/log" "$state.failed"; cmd_down; fi' EXIT
  echo "$nodes" >"$state/nodes"
  echo "$audit" >"$state/audit"
  make_pki
  kubeconfig_for admin "https://127.0.0.1:$port" "$state/admin.kubeconfig"
  if ((nodes > 0)); then
    make_network "$nodes"
    make_pause
    ns=pst-cp server=https://$cp_ip:6443
  fi
  kubeconfig_for admin "$server" "$state/inside.kubeconfig"
  log "keys and network made"
  start_api "$ns"
  if [[ -z $api_only ]]; then
    start_controllers "$ns" "$server"
    ((nodes == 0)) || start_dns "$server"
    for ((k = 1; k <= nodes; k++)); do
      configure_node "n$k" "$server"
      start_node "n$k"
    done
    ((kwok == 0)) || start_kwok "$ns" "$server" "$kwok"
    for ((k = 1; k <= nodes; k++)); do wait_for 90 "node n$k" node_ready "n$k"; done
    ((kwok == 0)) || wait_for 90 "the fake nodes" node_ready "fake-$((kwok - 1))"
    wait_for 30 "the default service account" kubectl get serviceaccount default
    ((nodes == 0)) || wait_for 30 "CoreDNS" nsenter --net=/run/netns/pst-cp curl -sf http://127.0.0.1:8181/ready
    log "nodes ready"
  fi
  trap - EXIT
  echo "export KUBECONFIG=$state/admin.kubeconfig"
}

cmd_down() {
  local k name nodes
  nodes=$(get nodes)
  stop kwok KILL
  for ((k = 1; k <= ${nodes:-0}; k++)); do kill_node "n$k"; done
  for name in kube-scheduler kube-controller-manager coredns forward-outer forward-inner kube-apiserver etcd; do
    stop "$name" KILL
  done
  unmount_below "$state"
  if ((${nodes:-0} > 0)); then
    for ((k = 1; k <= nodes; k++)); do remove_cgroups "n$k"; done
    for ((k = 1; k <= nodes; k++)); do ip netns del "pst-n$k" 2>/dev/null || true; done
    ip netns del pst-cp 2>/dev/null || true
    # Places that are compiled into kubelet, CNI and containerd.
    find /var/log/containers -maxdepth 1 -lname "$state/*" -delete 2>/dev/null || true
    rm -f /var/lib/cni/results/pst-pods-*
    [[ -S /run/containerd/containerd.sock ]] || rm -rf /run/containerd/s
    rm -f /var/lib/kubelet/device-plugins/{DEPRECATION,kubelet.sock}
    rmdir /var/log/containers /var/lib/kubelet/device-plugins /var/lib/kubelet 2>/dev/null || true
  fi
  rm -rf "$state"
}

cmd_exec() {
  local ns=pst-cp
  if [[ ${1:-} =~ ^n[0-9]+$ ]]; then ns=pst-$1; shift; fi
  exec nsenter "--net=/run/netns/$ns" "$@"
}

cmd_restart() {
  [[ -e $state/run/${1:-none}.cmd ]] || die "no such component: '${1:-}'"
  stop "$1" KILL
  relaunch "$1"
  [[ $1 != kube-apiserver && $1 != etcd ]] || wait_for 180 "the apiserver" api_ready
}

cmd_status() {
  local f name pid
  for f in "$state"/run/*.cmd; do
    name=$(basename "$f" .cmd)
    pid=$(pid_of "$name") || { printf '%-26s stopped\n' "$name"; continue; }
    printf '%-26s pid %-7s %5d MiB\n' "$name" "$pid" "$(awk '/^VmRSS/ { print int($2 / 1024) }' "/proc/$pid/status")"
  done
}

cmd_load_image() {
  local k tar
  for ((k = 1; k <= $(get nodes); k++)); do
    for tar in "$@"; do ctr "n$k" images import "$tar" >/dev/null; done
  done
}

main() {
  local cmd=${1:-}
  (($# == 0)) || shift
  case $cmd in
    up) cmd_up "$@" ;;
    down) cmd_down ;;
    kubeconfig) if [[ ${1:-} == --inside ]]; then echo "$state/inside.kubeconfig"; else echo "$state/admin.kubeconfig"; fi ;;
    load-image) cmd_load_image "$@" ;;
    exec) cmd_exec "$@" ;;
    partition) need_node "${1:-}"; ip -n pst-cp link set "$1" down ;;
    heal) need_node "${1:-}"; ip -n pst-cp link set "$1" up ;;
    node-kill) need_node "${1:-}"; ip -n pst-cp link set "$1" down; kill_node "$1" ;;
    node-start) need_node "${1:-}"; ip -n pst-cp link set "$1" up; start_node "$1" ;;
    api-restart) cmd_restart kube-apiserver ;;
    restart) cmd_restart "$@" ;;
    status) cmd_status ;;
    *) sed -n '2,32s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; [[ $cmd == help || $cmd == --help ]] || exit 2 ;;
  esac
}

main "$@"
