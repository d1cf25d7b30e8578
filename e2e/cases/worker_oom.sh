# The kernel kills a worker's training process because its pod's memory is used up.

run_case() {
  make_volumes
  long_job '"memory": "400Mi"' | k apply -f - >/dev/null
  strike use_up_memory
  succeeds 600
  [[ $(job_field '{.status.restarts.replicas.worker-1.failures}') == 1 ]] ||
    fail "the kill was not counted as a failure"
}

# A process of ours joins the container's memory cgroup and grows until the kernel has taken the
# training process, which is told to be the first to go.
use_up_memory() {
  local pod pid group
  pod=$(pod_of worker 1)
  pid=$(pids_in_pod "$pod" pstrain-runtime)
  [[ -n $pid ]] || { fail "no training process in $pod"; return 1; }
  echo 1000 >"/proc/$pid/oom_score_adj"
  group=/sys/fs/cgroup/memory$(awk -F: '$2 == "memory" { print $3 }' "/proc/$pid/cgroup")
  # The shell moves itself, then becomes the process that grows.
  (
    echo "$BASHPID" >"$group/cgroup.procs"
    exec python3 - "$pid" <<'END'
import sys, time
def lives():
    try:
        with open(f"/proc/{sys.argv[1]}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False
blocks = []
while lives():
    blocks.append(b"x" * (1 << 20))
    time.sleep(0.005)  # a killed process needs a moment to end, or others are killed too
END
  ) || true  # everything in the cgroup is killed when the container's first process has ended
  replaced worker 1 "$pod"
}
