# Real nodes: network namespaces, containerd, kubelet, kube-proxy. To be sourced.
# shellcheck shell=bash disable=SC2154 # variables of common.sh and cluster.sh

cgroups() { # paths of cgroup $1 in every hierarchy
  local h
  for h in /sys/fs/cgroup/*/; do
    [[ -L ${h%/} ]] || echo "$h$1"
  done
}

make_network() { # COUNT
  ip netns add pst-cp
  ip -n pst-cp link set lo up
  ip -n pst-cp link add br0 type bridge
  ip -n pst-cp addr add "$cp_ip/24" dev br0
  ip -n pst-cp link set br0 up
  nsenter --net=/run/netns/pst-cp sysctl -qw net.ipv4.ip_forward=1
  local k m
  for ((k = 1; k <= $1; k++)); do
    ip netns add "pst-n$k"
    ip -n pst-cp link add "n$k" type veth peer name eth0 netns "pst-n$k"
    ip -n pst-cp link set "n$k" master br0 up
    ip -n "pst-n$k" link set lo up
    ip -n "pst-n$k" addr add "$(node_ip "n$k")/24" dev eth0
    ip -n "pst-n$k" link set eth0 up
    ip -n "pst-n$k" route add default via "$cp_ip"
    nsenter --net="/run/netns/pst-n$k" sysctl -qw net.ipv4.ip_forward=1
    ip -n pst-cp route add "10.244.$k.0/24" via "$(node_ip "n$k")"
    for ((m = 1; m <= $1; m++)); do
      ((m == k)) || ip -n "pst-n$k" route add "10.244.$m.0/24" via "$(node_ip "n$m")"
    done
  done
}

ctr() { # NODE ARGS...
  local node=$1
  shift
  command ctr --address "$state/$node/containerd.sock" --namespace k8s.io "$@"
}

# A program that holds a pod's namespaces open and reaps its orphans.
make_pause() {
  [[ -s $cache/pause.tar ]] && return
  local dir
  dir=$(mktemp -d)
  cat >"$dir/pause.c" <<'END'
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
static void end(int s) { (void)s; _exit(0); }
static void reap(int s) { (void)s; while (waitpid(-1, 0, WNOHANG) > 0) {} }
int main(void) {
  signal(SIGINT, end);
  signal(SIGTERM, end);
  signal(SIGCHLD, reap);
  for (;;) pause();
}
END
  gcc -Os -static -s -o "$dir/pause" "$dir/pause.c"
  "$here/../../scripts/image_archive.py" --ref localhost/pause:1 --out "$cache/pause.tar" --add "$dir/pause:/pause" --entrypoint /pause
  rm -r "$dir"
}

configure_node() { # NODE SERVER
  local n=$1 dir=$state/$1
  mkdir -p "$dir/cni"
  cat >"$dir/containerd.toml" <<END
version = 2
root = "$dir/containerd"
state = "$dir/containerd-state"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.internal.v1.opt"]
[grpc]
  address = "$dir/containerd.sock"
[ttrpc]
  address = "$dir/containerd.sock.ttrpc"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
      Root = "$dir/runc"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$cni_bin"
    conf_dir = "$dir/cni"
END
  cat >"$dir/cni/10-pods.conflist" <<END
{"cniVersion": "0.4.0", "name": "pst-pods", "plugins": [{
  "type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true, "ipMasq": false,
  "ipam": {"type": "host-local", "dataDir": "$dir/ipam",
           "ranges": [[{"subnet": "10.244.${n#n}.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
END
  echo "nameserver $cp_ip" >"$dir/resolv.conf"
  cert "$n" "/O=system:nodes/CN=system:node:$n" "DNS:$n,IP:$(node_ip "$n")"
  kubeconfig_for "$n" "$2" "$dir/kubeconfig"
  kubeconfig_for proxy "$2" "$state/proxy.kubeconfig"
  cat >"$dir/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $state/pki/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $state/pki/$n.crt
tlsPrivateKeyFile: $state/pki/$n.key
containerRuntimeEndpoint: unix://$dir/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /pst-$n
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
clusterDNS: [$cp_ip]
clusterDomain: cluster.local
resolvConf: $dir/resolv.conf
podLogsDir: $dir/pod-logs
volumePluginDir: $dir/volume-plugins
nodeStatusUpdateFrequency: 4s
nodeLeaseDurationSeconds: 16
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 200Mi, nodefs.available: 1%, imagefs.available: 1%}
END
  cat >"$dir/proxy.yaml" <<END
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
clientConnection: {kubeconfig: $state/proxy.kubeconfig}
clusterCIDR: $pod_cidr
hostnameOverride: $n
oomScoreAdj: 0
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
END
}

start_node() { # NODE
  local n=$1 dir=$state/$1 c
  for c in $(cgroups "pst-$n"); do
    mkdir -p "$c"
    if [[ -e $c/cpuset.cpus ]]; then
      cat "${c%/*}/cpuset.cpus" >"$c/cpuset.cpus"
      cat "${c%/*}/cpuset.mems" >"$c/cpuset.mems"
    fi
  done
  launch "containerd-$n" "pst-$n" containerd --config "$dir/containerd.toml" --log-level warn
  wait_for 20 "containerd of $n" ctr "$n" version
  ctr "$n" images import "$cache/pause.tar" >/dev/null
  launch "kubelet-$n" "pst-$n" "$bin/kubelet" --config="$dir/kubelet.yaml" --kubeconfig="$dir/kubeconfig" \
    --hostname-override="$n" --node-ip="$(node_ip "$n")" --root-dir="$dir/kubelet" --cert-dir="$dir/kubelet-pki"
  launch "kube-proxy-$n" "pst-$n" "$bin/kube-proxy" --config="$dir/proxy.yaml"
}

# SIGKILL to everything that runs on a node: kubelet, containerd, shims, containers.
kill_node() { # NODE
  local n=$1 c p pids
  stop "kubelet-$n" KILL
  stop "kube-proxy-$n" KILL
  stop "containerd-$n" KILL
  # A shim has the socket's path as one of its arguments.
  { grep -lzxF -f <(echo "$state/$n/containerd.sock") /proc/[0-9]*/cmdline 2>/dev/null || true; } |
    while IFS=/ read -r _ _ p _; do kill -KILL "$p" 2>/dev/null || true; done
  for _ in {1..50}; do
    pids=$(for c in $(cgroups "pst-$n"); do
      [[ ! -d $c ]] || find "$c" -name cgroup.procs -exec cat {} + 2>/dev/null || true
    done | sort -u)
    [[ -n $pids ]] || break
    # shellcheck disable=SC2086
    kill -KILL $pids 2>/dev/null || true
    sleep 0.1
  done
  unmount_below "$state/$n"
}

# A cgroup can go only when init has reaped its last zombie.
remove_cgroups() { # NODE
  local c left
  for _ in {1..100}; do
    left=''
    for c in $(cgroups "pst-$1"); do
      [[ -d $c ]] || continue
      find "$c" -depth -type d -exec rmdir {} + 2>/dev/null || left+=" $c"
    done
    [[ -n $left ]] || return 0
    sleep 0.1
  done
  echo "cluster.sh: cannot remove$left" >&2
}

unmount_below() {
  local m
  awk -v d="$1/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo | sort -r | while read -r m; do
    umount -l "$(printf '%b' "$m")" 2>/dev/null || true
  done
}

node_ready() { [[ $(kubectl get node "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}') == True ]]; }
need_node() { [[ -d $state/${1:-none}/cni ]] || die "no such node: '${1:-}'"; }
