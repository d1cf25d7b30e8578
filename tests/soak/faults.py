"""What a fault does to a running job, and how it ends. Each is a generator: it strikes, yields how
long it lasts and what it is for people, and undoes itself when it is continued."""

import os
import pathlib
import signal
import subprocess

import replicas


def kill(job, rng):
    yield from _signal(job, rng, "pstrain-runtime", signal.SIGKILL, "kill")


def kill_agent(job, rng):
    yield from _signal(job, rng, "pstrain-agent", signal.SIGKILL, "kill agent")


def terminate(job, rng):
    yield from _signal(job, rng, "pstrain-agent", signal.SIGTERM, "term")


def _signal(job, rng, program, number, what):
    targets = replicas.replicas(job.pid, (program,))
    if not targets:
        return
    target = rng.choice(targets)
    if target.send(number):
        yield 0, f"{what} {target.name}"


def pause(job, rng):
    """A process that neither computes nor answers, for a moment or past the time of silence after
    which the chief declares it lost (10 s)."""
    targets = replicas.replicas(job.pid, ("pstrain-runtime",))
    if not targets:
        return
    target = rng.choice(targets)
    if not target.send(signal.SIGSTOP):
        return
    try:
        yield rng.choice((0.2, 1, 3, 12)), f"pause {target.name}"
    finally:
        target.resume()


def cut_link(job, rng):
    """One direction of all links of one chief or ps, in the soak's own network namespace."""
    targets = replicas.replicas(job.pid, ("pstrain-runtime",))
    if not targets:
        return
    cluster = targets[0].cluster
    role = rng.choice([role for role in ("chief", "ps") if role in cluster])
    index = rng.randrange(len(cluster[role]))
    port = cluster[role][index].rsplit(":", 1)[1]
    side = rng.choice(("--dport", "--sport"))
    rule = ["INPUT", "-p", "tcp", side, port, "-j", "DROP"]
    if not _iptables("-A", rule):
        return
    try:
        direction = "to" if side == "--dport" else "from"
        yield rng.choice((0.5, 2, 12)), f"nothing arrives {direction} {role}-{index}"
    finally:
        _iptables("-D", rule)


def _iptables(action, rule):
    return subprocess.run(["iptables", "-w", action, *rule], check=False).returncode == 0


def full_disk(job, rng):
    """The volume of the checkpoints, a tmpfs of the soak's own, has no byte left."""
    filler = pathlib.Path(job.volume) / "filler"
    try:
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"\0" * 65536)
            except OSError:
                pass  # full
            os.fsync(file.fileno())
        yield rng.choice((0.5, 3, 8)), "the disk is full"
    finally:
        filler.unlink(missing_ok=True)


PROCESSES = {"kill": kill, "kill_agent": kill_agent, "terminate": terminate, "pause": pause}
NAMESPACES = {"cut_link": cut_link, "full_disk": full_disk}
