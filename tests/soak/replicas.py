"""The processes of a `pstrain run`, as /proc shows them."""

import json
import os
import pathlib
import signal

PROC = pathlib.Path("/proc")
PROGRAMS = ("pstrain-agent", "pstrain-runtime")
# Roles whose replicas others connect to.
LISTENERS = ("chief", "ps")


class Process:
    def __init__(self, pid, program, role, index, cluster):
        self.pid, self.program, self.role, self.index = pid, program, role, index
        self.cluster = cluster

    @property
    def name(self):
        return f"{self.role}-{self.index}"

    def send(self, number):
        """False when it has ended in the meantime."""
        try:
            os.kill(self.pid, number)
            return True
        except ProcessLookupError:
            return False

    def resume(self):
        self.send(signal.SIGCONT)

    def running(self):
        return self.send(0)

    def port(self):
        """Where it listens, as text; None for one that nobody connects to."""
        if self.role not in LISTENERS:
            return None
        return self.cluster[self.role][self.index].rsplit(":", 1)[1]

    def connected_from(self, port):
        """The local ports of its connections to that port."""
        folder = PROC / str(self.pid)
        try:
            own = {_link(entry) for entry in (folder / "fd").iterdir()}
            lines = [line.split() for name in ("tcp", "tcp6") if (folder / "net" / name).exists()
                     for line in (folder / "net" / name).read_text().splitlines()[1:]]
        except OSError:
            return []
        ends = [(fields[1], fields[2]) for fields in lines if f"socket:[{fields[9]}]" in own]
        return [str(_port_of(local)) for local, remote in ends if _port_of(remote) == int(port)]

    def size(self):
        """(resident MiB, open descriptors), or None when it has ended."""
        try:
            folder = PROC / str(self.pid)
            pages = int((folder / "statm").read_text().split()[1])
            return pages * os.sysconf("SC_PAGE_SIZE") / 2**20, len(os.listdir(folder / "fd"))
        except OSError:
            return None


def _link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""  # closed in the meantime


def _port_of(address):
    """As /proc/net/tcp has it: the address and the port in hexadecimal digits."""
    return int(address.rsplit(":", 1)[1], 16)


def _parents():
    """{pid: parent's pid} of all processes."""
    parents = {}
    for entry in PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
        except OSError:
            continue
        parents[int(entry.name)] = int(stat.rsplit(")", 1)[1].split()[1])
    return parents


def descendants(root):
    children = {}
    for pid, parent in _parents().items():
        children.setdefault(parent, []).append(pid)
    found, queue = [], [root]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def _environment(pid):
    text = (PROC / str(pid) / "environ").read_bytes()
    return dict(part.split(b"=", 1) for part in text.split(b"\0") if b"=" in part)


def replicas(root, programs=PROGRAMS):
    """The agents and training processes below the process `root`, in the order of their names."""
    found = []
    for pid in descendants(root):
        try:
            program = os.path.basename(os.readlink(PROC / str(pid) / "exe"))
            if program not in programs:
                continue
            config = json.loads(_environment(pid)[b"TF_CONFIG"])
        except (OSError, KeyError, ValueError):
            continue  # it has ended, or has not become the program yet
        task = config["task"]
        found.append(Process(pid, program, task["type"], int(task["index"]), config["cluster"]))
    return sorted(found, key=lambda process: (process.name, process.program))
