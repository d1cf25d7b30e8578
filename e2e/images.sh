# The images of the cases. To be sourced.
# shellcheck shell=bash disable=SC2154 # variables of run.sh

own_program_image=pstrain/own-program:e2e
# A shell without the agent, as root.
root_image=pstrain/root:e2e

# The operator's and the training image, as a user makes them; sets training_image.
make_images() {
  local made
  made=$("$root/scripts/images.sh" "$preset" "$work")
  training_image=$(sed -n "s|^$work/runtime.tar: ||p" <<<"$made")
}

# A program of the user's own: a shell script under the agent.
make_own_program_image() {
  "$root/scripts/image_archive.py" --ref "$own_program_image" --out "$work/own-program.tar" \
    --with-libs "$programs/pstrain-agent:/usr/bin/pstrain-agent" \
    --add /bin/busybox:/bin/sh --add "$root/e2e/own_program.sh:/usr/bin/own-program" \
    --entrypoint /usr/bin/pstrain-agent
}
make_root_image() {
  "$root/scripts/image_archive.py" --ref "$root_image" --out "$work/root.tar" --user 0:0 \
    --add /bin/busybox:/bin/sh --entrypoint /bin/sh
}
