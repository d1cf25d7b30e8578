"""What a fault does, and how it ends. Each is a generator: it strikes, yields (how long it lasts in
seconds, what it is for people), and undoes itself when it is continued; it yields nothing when
there was nothing to strike."""

import os
import pathlib
import signal
import subprocess


def send(target, number, what):
    if target.send(number):
        yield 0, f"{what} {target.name}"


def kill(target):
    return send(target, signal.SIGKILL, "kill")


def terminate(target):
    return send(target, signal.SIGTERM, "term")


def pause(target, seconds):
    """A process that neither computes nor answers."""
    if not target.send(signal.SIGSTOP):
        return
    try:
        yield seconds, f"pause {target.name}"
    finally:
        target.resume()


def cut_link(cluster, role, index, side, seconds):
    """One direction of all links of one chief or ps, in this process' own network namespace.
    `side`: "to" it or "from" it."""
    port = cluster[role][index].rsplit(":", 1)[1]
    match = {"to": "--dport", "from": "--sport"}[side]
    rule = ["INPUT", "-p", "tcp", match, port, "-j", "DROP"]
    if not _iptables("-A", rule):
        return
    try:
        yield seconds, f"nothing arrives {side} {role}-{index}"
    finally:
        _iptables("-D", rule)


def _iptables(action, rule):
    return subprocess.run(["iptables", "-w", action, *rule], check=False).returncode == 0


def full_disk(volume, seconds):
    """The volume, a tmpfs of this process' own mount namespace, has no byte left."""
    filler = pathlib.Path(volume) / "filler"
    try:
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"\0" * 65536)
            except OSError:
                pass  # full
            os.fsync(file.fileno())
        yield seconds, "the disk is full"
    finally:
        filler.unlink(missing_ok=True)
