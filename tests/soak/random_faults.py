"""A fault of each kind, with a target and a length by chance."""

import faults
import replicas

PROGRAM, AGENT = ("pstrain-runtime",), ("pstrain-agent",)


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
    role = rng.choice([role for role in ("chief", "ps") if role in cluster])
    return faults.cut_link(cluster, role, rng.randrange(len(cluster[role])),
                           rng.choice(("to", "from")), rng.choice((0.5, 2, 12)))


# A pause of 12 s is longer than the silence after which the chief declares a replica lost (10 s).
PROCESSES = {
    "kill": _on_one(lambda target, rng: faults.kill(target), PROGRAM),
    "kill_agent": _on_one(lambda target, rng: faults.kill(target), AGENT),
    "terminate": _on_one(lambda target, rng: faults.terminate(target), AGENT),
    "pause": _on_one(lambda target, rng: faults.pause(target, rng.choice((0.2, 1, 3, 12))), PROGRAM),
}
NAMESPACES = {
    "cut_link": _cut_link,
    "full_disk": lambda job, rng: faults.full_disk(job.volume, rng.choice((0.5, 3, 8))),
}
