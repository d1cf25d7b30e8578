"""What a fault does, and how it ends. Each is a generator: it strikes, yields (how long it lasts in
seconds, what it is for people), and undoes itself when it is continued; it yields nothing when
there was nothing to strike. One whose end is seen only as it goes yields again, to be continued
again."""

import functools
import os
import pathlib
import signal
import subprocess
import time


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
    yield from _dropped([[match, port]], seconds, f"nothing arrives {side} {role}-{index}")


def cut_pair(sender, receiver, seconds):
    """What one process sends to another one, over all connections between the two. Nobody gets a new
    connection to either of them meanwhile, because nothing says whose that is before it is there."""
    matches = []
    for listener, client, port, other in ((receiver, sender, "--dport", "--sport"),
                                          (sender, receiver, "--sport", "--dport")):
        if listener.port() is None:
            continue
        matches += [[port, listener.port(), other, local]
                    for local in client.connected_from(listener.port())]
        matches.append(["--syn", "--dport", listener.port()])
    if not any("--syn" not in match for match in matches):
        return
    yield from _dropped(matches, seconds, f"nothing of {sender.name} reaches {receiver.name}")


def refuse_connections(listener, seconds):
    """No new connection to the listener comes up while it lives: for a link that is not there yet,
    and that nobody else asks for."""
    end = time.monotonic() + seconds
    matches = [["--syn", "--dport", listener.port()]]
    for _, what in _dropped(matches, seconds, f"{listener.name} takes no connection"):
        while listener.running() and time.monotonic() < end:
            yield 0.1, what


def _dropped(matches, seconds, what):
    """TCP packets that match any of these do not arrive."""
    rules = [["INPUT", "-p", "tcp", *match, "-j", "DROP"] for match in matches]
    added = []
    try:
        for rule in rules:
            if not _iptables("-A", rule):
                return
            added.append(rule)
        yield seconds, what
    finally:
        for rule in added:
            _iptables("-D", rule)


def _iptables(action, rule):
    return subprocess.run(["iptables", "-w", action, *rule], check=False).returncode == 0


# Where this process has a network namespace of its own.
LOSS = ["INPUT", "-p", "tcp", "-m", "statistic", "--mode", "random", "--probability", "0.05", "-j",
        "DROP"]
NETEM = ["delay", "20ms", "10ms", "loss", "5%", "reorder", "10%"]


def _netem(action, *what):
    return subprocess.run(["tc", "qdisc", action, "dev", "lo", "root", *what], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0


@functools.cache
def can_delay():
    """The kernel has netem, which delays packets and lets others overtake them."""
    try:
        return _netem("add", "netem", "delay", "1ms") and _netem("del")
    except FileNotFoundError:
        return False


@functools.cache
def can_lose():
    """iptables knows chance."""
    return _iptables("-A", LOSS) and _iptables("-D", LOSS)


def bad_weather(seconds):
    """Packets of all links are late, lost and overtaken; only lost where the kernel has no netem."""
    if can_delay():
        begun, what = _netem("add", "netem", *NETEM), "packets are late, lost and overtaken"
    else:
        begun, what = _iptables("-A", LOSS), "packets are lost"
    if not begun:
        return
    try:
        yield seconds, what
    finally:
        if can_delay():
            _netem("del")
        else:
            _iptables("-D", LOSS)


def failing_calls(order, calls, error, percent, part, seconds):
    """Calls on files fail in the processes that tests/process/faults/failing_calls.cc is loaded
    into and that look for the file `order`."""
    order = pathlib.Path(order)
    written = order.with_name(order.name + ".new")
    written.write_text(f"{calls} {int(error)} {percent} {part}\n")
    written.replace(order)
    try:
        yield seconds, f"{percent} % of {calls} fail in {order.name} with {os.strerror(error)}"
    finally:
        order.unlink(missing_ok=True)


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
