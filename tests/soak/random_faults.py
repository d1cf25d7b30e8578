"""A fault of each kind, with a target and a length by chance."""

import errno

import faults
import replicas
from job import WITH_FILES, preload_of

PROGRAM, AGENT = ("pstrain-runtime",), ("pstrain-agent",)
# Seconds. Half of the pauses and cuts are longer than the silence after which the chief declares a
# replica lost (10 s), few so long that everybody has given it up.
PAUSES = (0.2, 1, 3, 12, 15, 60)
PAUSE_WEIGHTS = (4, 4, 4, 4, 2, 1)
CUTS = (0.5, 2, 12)


def _pause(target, rng):
    return faults.pause(target, rng.choices(PAUSES, PAUSE_WEIGHTS)[0])


def _on_one(fault, programs):
    """`fault` on one of the running processes of these programs."""
    def strike(job, rng):
        targets = replicas.replicas(job.pid, programs)
        return fault(rng.choice(targets), rng) if targets else iter(())

    return strike


def _cut_link(job, rng):
    targets = replicas.replicas(job.pid, PROGRAM)
    if not targets:
        return iter(())
    cluster = targets[0].cluster
    role = rng.choice([role for role in replicas.LISTENERS if role in cluster])
    return faults.cut_link(cluster, role, rng.randrange(len(cluster[role])),
                           rng.choice(("to", "from")), rng.choice(CUTS))


def _cut_pair(job, rng):
    targets = replicas.replicas(job.pid, PROGRAM)
    if len(targets) < 2:
        return iter(())
    sender, receiver = rng.sample(targets, 2)
    return faults.cut_pair(sender, receiver, rng.choice(CUTS))


def _failing_calls(job, rng):
    calls = rng.choice(("open,read", "write,fsync", "rename,mkdir",
                        "open,read,write,fsync,rename,mkdir,readdir"))
    role = rng.choice(WITH_FILES)
    return faults.failing_calls(job.order(role), calls,
                                rng.choice((errno.EIO, errno.ESTALE, errno.EACCES)),
                                rng.choice((33, 100)), job.files_of(role),
                                rng.choice((0.5, 3, 8)))


PROCESSES = {
    "kill": _on_one(lambda target, rng: faults.kill(target), PROGRAM),
    "kill_agent": _on_one(lambda target, rng: faults.kill(target), AGENT),
    "terminate": _on_one(lambda target, rng: faults.terminate(target), AGENT),
    "pause": _on_one(_pause, PROGRAM),
    "pause_agent": _on_one(_pause, AGENT),
}
NAMESPACES = {
    "cut_link": _cut_link,
    "cut_pair": _cut_pair,
    "full_disk": lambda job, rng: faults.full_disk(job.volume, rng.choice((0.5, 3, 8))),
}
PRELOADED = {"failing_calls": _failing_calls}
WEATHER = {"bad_weather": lambda job, rng: faults.bad_weather(rng.choice((0.5, 3, 8)))}


def kinds_of(binaries, namespaces):
    """({kind: fault}, what cannot be done on this machine and why)."""
    kinds, without = dict(PROCESSES), []
    if preload_of(binaries):
        kinds |= PRELOADED
    else:
        without.append("calls on files do not fail: the build has no libfailing_calls.so")
    if not namespaces:
        without.append("links and disks stay whole: not root, or no iptables")
        return kinds, without
    kinds |= NAMESPACES
    if not faults.can_delay():
        without.append("packets are not delayed or overtaken: the kernel has no netem")
    if faults.can_delay() or faults.can_lose():
        kinds |= WEATHER
    else:
        without.append("packets are not lost by chance: iptables has no statistic")
    return kinds, without
