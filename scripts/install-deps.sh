#!/usr/bin/env bash
# install-deps.sh [--test | --torch | --images | --cluster]: installs what the build needs from Debian
# 12's main archive, with --test also what the tests need, with --torch what a long test of
# pstrain/torch.h needs, with --images what scripts/images.sh needs, with --cluster what e2e/run.sh
# needs. Does nothing when all of it is there. Needs root or sudo.
set -euo pipefail

packages=(
  ca-certificates ccache cmake g++ git ninja-build
  libabsl-dev libcpprest-dev libeigen3-dev libfarmhash-dev libgmock-dev
  libgrpc++-dev libgrpc-dev libgtest-dev libprotobuf-dev libssl-dev libyaml-cpp-dev
  nlohmann-json3-dev prometheus-cpp-dev protobuf-compiler protobuf-compiler-grpc zlib1g-dev
)
# A Kubernetes cluster on this machine; its programs are built from Go modules.
cluster_packages=(
  busybox-static containerd containernetworking-plugins curl iproute2 iptables openssl python3 runc
  socat
)
if ! command -v go >/dev/null; then cluster_packages+=(golang-go); fi
test_packages=(
  clang-19 clang-format-19 clang-tidy-19 libclang-rt-19-dev lld-19 pkgconf procps python3
  python3-pip
)

case "${1-}" in
  "") ;;
  --test) packages+=("${test_packages[@]}") ;;
  --torch) packages+=(libtorch-dev) ;;
  --images) packages+=(python3) ;;
  --cluster) packages+=("${cluster_packages[@]}") ;;
  *)
    echo "usage: $0 [--test | --torch | --images | --cluster]" >&2
    exit 2
    ;;
esac

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  if [[ $state != installed ]]; then missing+=("$package"); fi
done
if ((${#missing[@]} == 0)); then
  echo "install-deps: all ${#packages[@]} packages are installed" >&2
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "install-deps: missing: ${missing[*]}; run as root or install sudo" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "install-deps: installing ${missing[*]}" >&2
{
  "${as_root[@]}" apt-get -q update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y --no-install-recommends install "${missing[@]}"
} >&2
