#!/usr/bin/env bash
# Builds the programs of the test cluster from Go modules into the cache; what is built from the
# same sources, flags and Go version already is left alone.
#
#   build-tools.sh              all of them
#   build-tools.sh NAME...      only these
#   build-tools.sh --missing NAME...   prints those of them that are not built
#
# PSTRAIN_E2E_DIR   cache directory (default ${XDG_CACHE_HOME:-$HOME/.cache}/pstrain/e2e); the
#                   programs go to bin/ there
# PSTRAIN_E2E_JOBS  value for `go build -p` (default 2)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=lib/go.sh
. "$here/lib/go.sh"
jobs=${PSTRAIN_E2E_JOBS:-2}

# Program, folder under tools/, package.
table='
etcd                    etcd        go.etcd.io/etcd/server/v3
kube-apiserver          kube        k8s.io/kubernetes/cmd/kube-apiserver
kubectl                 kube        k8s.io/kubernetes/cmd/kubectl
kube-controller-manager kube        k8s.io/kubernetes/cmd/kube-controller-manager
kube-scheduler          kube        k8s.io/kubernetes/cmd/kube-scheduler
kubelet                 kube        k8s.io/kubernetes/cmd/kubelet
kube-proxy              kube        k8s.io/kubernetes/cmd/kube-proxy
coredns                 coredns     pstrain.example/cluster/tools/coredns
helm                    helm        helm.sh/helm/v3/cmd/helm
prometheus              prometheus  github.com/prometheus/prometheus/cmd/prometheus
promtool                prometheus  github.com/prometheus/prometheus/cmd/promtool
alertmanager            alertmanager github.com/prometheus/alertmanager/cmd/alertmanager
amtool                  alertmanager github.com/prometheus/alertmanager/cmd/amtool
kwok                    kwok        sigs.k8s.io/kwok/cmd/kwok
'

# The version that tools/FOLDER/go.mod asks for.
version_of() { # FOLDER MODULE
  awk -v m="$2" '$1 == "require" && $2 == m { print $3; exit } $1 == m { print $2; exit }' \
    "$here/tools/$1/go.mod"
}

# Without them the programs call themselves v0.0.0 and refuse to work together.
version_flags() { # FOLDER
  local version minor package
  case $1 in
    kube)
      version=$(version_of kube k8s.io/kubernetes)
      minor=${version#v1.}
      for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
        printf -- ' -X %s.gitVersion=%s -X %s.gitMajor=1 -X %s.gitMinor=%s -X %s.gitTreeState=clean' \
          "$package" "$version" "$package" "$package" "${minor%%.*}" "$package"
      done
      ;;
    helm)
      minor=$(version_of helm k8s.io/client-go | cut -d. -f2)
      printf -- ' -X helm.sh/helm/v3/internal/version.version=%s' "$(version_of helm helm.sh/helm/v3)"
      for package in helm.sh/helm/v3/pkg/lint/rules helm.sh/helm/v3/pkg/chartutil; do
        printf -- ' -X %s.k8sVersionMajor=1 -X %s.k8sVersionMinor=%s' "$package" "$package" "$minor"
      done
      ;;
    kwok)
      printf -- ' -X sigs.k8s.io/kwok/pkg/consts.Version=%s' "$(version_of kwok sigs.k8s.io/kwok)"
      ;;
    prometheus) # module v0.3NN.P is release 3.NN.P
      version=$(version_of prometheus github.com/prometheus/prometheus)
      version=${version#v0.3}
      printf -- ' -X github.com/prometheus/common/version.Version=3.%d.%s' \
        "$((10#${version%%.*}))" "${version##*.}"
      ;;
    alertmanager)
      version=$(version_of alertmanager github.com/prometheus/alertmanager)
      printf -- ' -X github.com/prometheus/common/version.Version=%s' "${version#v}"
      ;;
  esac
}

# Of Prometheus' ways to find targets only that of Kubernetes is wanted.
tags_of() { case $1 in prometheus) echo 'remove_all_sd,enable_kubernetes_sd,netgo' ;; esac; }

stamp_of() { # FOLDER PACKAGE
  {
    echo "$2 $(version_flags "$1") $(tags_of "$1")"
    find "$here/tools/$1" -type f -print0 | sort -z | xargs -0 sha256sum | cut -d' ' -f1
  } | sha256sum | cut -d' ' -f1
}

is_built() { # NAME FOLDER PACKAGE
  [[ -x $bin/$1 && $(cat "$bin/.$1.stamp" 2>/dev/null || true) == "$(stamp_of "$2" "$3")" ]]
}

build() { # NAME FOLDER PACKAGE
  local begun=$EPOCHREALTIME
  (
    cd "$here/tools/$2"
    CGO_ENABLED=0 GOWORK=off GOTOOLCHAIN=local "$go" build -p "$jobs" -mod=readonly \
      -buildvcs=false -trimpath -tags "$(tags_of "$2")" \
      -ldflags "-s -w$(version_flags "$2")" -o "$bin/.$1.new" "$3"
  )
  mv "$bin/.$1.new" "$bin/$1"
  stamp_of "$2" "$3" >"$bin/.$1.stamp"
  printf '%-24s built in %6.1f s, %5.1f MiB\n' "$1" "$(seconds_between "$EPOCHREALTIME" "$begun")" \
    "$(awk -v b="$(stat -c %s "$bin/$1")" 'BEGIN { print b / 1048576 }')"
}

missing_only=''
if [[ ${1:-} == --missing ]]; then
  missing_only=1
  shift
fi
for name in "$@"; do
  grep -q "^$name " <<<"$table" || die "there is no program '$name'"
done
mkdir -p "$bin"
go=''
while read -r name folder package; do
  [[ -n $name ]] || continue
  (($# == 0)) || [[ " $* " == *" $name "* ]] || continue
  is_built "$name" "$folder" "$package" && continue
  if [[ -n $missing_only ]]; then
    echo "$name"
    continue
  fi
  [[ -n $go ]] || go=$(find_go) || exit 1
  build "$name" "$folder" "$package"
done <<<"$table"
