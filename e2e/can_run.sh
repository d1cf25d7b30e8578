# Whether a cluster can run here. To be sourced after cluster/lib/common.sh and cluster/lib/go.sh.
# shellcheck shell=bash disable=SC2154 # variables of common.sh

# Programs that the kinds of cluster are made of.
api_tools=(etcd kube-apiserver)
node_tools=("${api_tools[@]}" kubectl kube-controller-manager kube-scheduler kubelet kube-proxy coredns)
fake_node_tools=("${api_tools[@]}" kubectl kube-controller-manager kube-scheduler kwok)

has_command() { command -v "$1" >/dev/null; }

# why_no_tools BUILD-TOOLS NAME...: prints why the programs are not there and cannot be built;
# nothing when they can.
why_no_tools() {
  local build_tools=$1
  shift
  [[ -n $("$build_tools" --missing "$@") ]] || return 0
  find_go 2>&1 >/dev/null || true
}

# Prints why a cluster of these programs, without real nodes, cannot run; nothing when it can.
why_no_api() { # BUILD-TOOLS NAME...
  local name
  for name in openssl curl; do
    has_command "$name" || { echo "$name is not installed"; return; }
  done
  why_no_tools "$@"
}

# Prints why real nodes cannot run; nothing when they can.
why_no_nodes() { # BUILD-TOOLS
  local name
  ((EUID == 0)) || { echo "not root"; return; }
  [[ -d /sys/fs/cgroup/memory ]] || { echo "no cgroup v1"; return; }
  # CAP_NET_ADMIN is bit 12 (include/uapi/linux/capability.h).
  (((16#$(awk '/^CapEff/ { print $2 }' /proc/self/status) >> 12) & 1)) ||
    { echo "no CAP_NET_ADMIN"; return; }
  for name in containerd ctr runc iptables socat ip "$cni_bin/bridge" openssl curl gcc; do
    has_command "$name" || { echo "$name is not installed (scripts/install-deps.sh --cluster)"; return; }
  done
  why_no_tools "$1" "${node_tools[@]}" helm
}
