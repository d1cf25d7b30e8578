#!/usr/bin/env python3
"""first_step.py NAMESPACE POD SELECTOR AUDIT_LOG: deletes a worker's pod and waits for the first
step of its successor, which SELECTOR finds too. Prints seconds since the apiserver
got the deletion: `created bound agent runtime step` (the create call, the scheduler's binding, the
start of the agent, the start of the training process, the first step).

Processes and numbers of the new pod are looked for on this machine: what the kubelet says of a pod
comes up to a second late."""

import ctypes
import glob
import json
import os
import subprocess
import sys
import time
import urllib.request

LIMIT_S = 120
PERIOD_S = 0.01
CLONE_NEWNET = 0x40000000
METRICS = "http://127.0.0.1:9464/metrics"


def wait_for(what, look):
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(PERIOD_S)
    sys.exit(f"first_step.py: not in {LIMIT_S} s: {what}")


def delete_and_see_next(namespace, pod, selector):
    """Name and uid of the successor."""
    kubectl = ["kubectl", "--namespace", namespace]
    listing = [*kubectl, "get", "pods", "--selector", selector, "--output",
               'jsonpath={range .items[*]}{.metadata.name}{"\\n"}{end}']
    known = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.split()
    watching = [*listing[:-1], 'jsonpath={.metadata.name} {.metadata.uid}{"\\n"}', "--watch"]
    with subprocess.Popen(watching, stdout=subprocess.PIPE, text=True) as watch:
        try:
            watch.stdout.readline()  # it watches from now on
            subprocess.run([*kubectl, "delete", "pod", pod, "--wait=false"], check=True,
                           stdout=subprocess.DEVNULL)
            for line in watch.stdout:
                name, uid = line.split()
                if name not in known:
                    return name, uid
        finally:
            watch.terminate()
    sys.exit("first_step.py: there is no successor of " + pod)


def start_time(pid):
    """Seconds since 1970 at which a process began."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        ticks = int(stat.read().rsplit(")", 1)[1].split()[19])
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return time.time() - age


def process_of(uid, program):
    """Process id and start of a pod's program; None while there is none."""
    for path in glob.glob(f"/sys/fs/cgroup/memory/pst-n*/**/pod{uid}/**/cgroup.procs",
                          recursive=True):
        try:
            with open(path, encoding="ascii") as lines:
                for pid in lines.read().split():
                    with open(f"/proc/{pid}/comm", encoding="utf-8") as comm:
                        if comm.read().strip() == program[:15]:
                            return int(pid), start_time(pid)
        except OSError:
            pass  # ended meanwhile
    return None


def enter_network_of(pid):
    with open(f"/proc/{pid}/ns/net", encoding="ascii") as namespace:
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET) != 0:
            sys.exit(f"first_step.py: setns: {os.strerror(ctypes.get_errno())}")


def has_stepped():
    try:
        with urllib.request.urlopen(METRICS, timeout=1) as reply:
            page = reply.read().decode()
    except OSError:
        return False  # the agent does not listen yet
    return any(line.startswith("pstrain_worker_steps_total") and float(line.split()[-1]) > 0
               for line in page.splitlines())


def seconds(timestamp):
    """Of the audit log: 2026-01-02T03:04:05.678901Z."""
    whole, fraction = timestamp.rstrip("Z").split(".")
    return (time.mktime(time.strptime(whole + " UTC", "%Y-%m-%dT%H:%M:%S %Z")) - time.timezone +
            float("0." + fraction))


def call_time(log, verb, namespace, name, subresource=None):
    times = []
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            ref = event.get("objectRef", {})
            if (event["verb"] == verb and ref.get("resource") == "pods" and
                    ref.get("subresource") == subresource and ref.get("name") == name and
                    ref.get("namespace") == namespace):
                times.append(seconds(event["requestReceivedTimestamp"]))
    if not times:
        sys.exit(f"first_step.py: no {verb} of {name} in the audit log")
    return times[0]


def main():
    namespace, pod, selector, log = sys.argv[1:]
    name, uid = delete_and_see_next(namespace, pod, selector)
    pid, agent = wait_for("the agent of " + name, lambda: process_of(uid, "pstrain-agent"))
    _, runtime = wait_for("the runtime of " + name, lambda: process_of(uid, "pstrain-runtime"))
    enter_network_of(pid)
    wait_for("a step of " + name, has_stepped)
    step = time.time()
    begun = call_time(log, "delete", namespace, pod)
    created = call_time(log, "create", namespace, name)
    bound = call_time(log, "create", namespace, name, "binding")
    print(*(f"{at - begun:.2f}" for at in (created, bound, agent, runtime, step)))


main()
