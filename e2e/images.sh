# The images of the cases. To be sourced.
# shellcheck shell=bash disable=SC2154 # variables of run.sh

version=$(sed -n 's/^project(pstrain VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
training_image=pstrain/runtime:$version
own_program_image=pstrain/own-program:$version

# A program of the user's own: a shell script under the agent.
make_own_program_image() {
  "$root/scripts/image_archive.py" --ref "$own_program_image" --out "$work/own-program.tar" \
    --with-libs "$programs/pstrain-agent:/usr/bin/pstrain-agent" \
    --add /bin/busybox:/bin/sh --add "$root/e2e/own_program.sh:/usr/bin/own-program" \
    --entrypoint /usr/bin/pstrain-agent
}
