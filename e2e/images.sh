# Images made from the build, without a registry. To be sourced.
# shellcheck shell=bash disable=SC2154 # variables of run.sh

version=$(sed -n 's/^project(pstrain VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
training_image=docker.io/pstrain/runtime:$version
operator_image=docker.io/pstrain/operator:$version
own_program_image=docker.io/pstrain/own-program:$version

image() { python3 "$root/e2e/cluster/oci_image.py" "$@"; }

# Names are resolved by DNS as in any other container.
image_base() {
  echo "hosts: files dns" >"$work/nsswitch.conf"
  echo --add "$work/nsswitch.conf:/etc/nsswitch.conf"
}

make_training_image() {
  # shellcheck disable=SC2046 # two words
  image --ref "$training_image" --out "$work/runtime.tar" $(image_base) \
    --with-libs "$programs/pstrain-agent:/usr/bin/pstrain-agent" \
    --with-libs "$programs/pstrain-runtime:/usr/bin/pstrain-runtime" \
    --entrypoint /usr/bin/pstrain-agent
}

make_operator_image() {
  # shellcheck disable=SC2046 # two words
  image --ref "$operator_image" --out "$work/operator.tar" $(image_base) \
    --with-libs "$programs/pstrain-operator:/usr/bin/pstrain-operator" \
    --entrypoint /usr/bin/pstrain-operator
}

# A program of the user's own: a shell script under the agent.
make_own_program_image() {
  image --ref "$own_program_image" --out "$work/own-program.tar" \
    --with-libs "$programs/pstrain-agent:/usr/bin/pstrain-agent" \
    --add /bin/busybox:/bin/sh --add "$root/e2e/own_program.sh:/usr/bin/own-program" \
    --entrypoint /usr/bin/pstrain-agent
}
