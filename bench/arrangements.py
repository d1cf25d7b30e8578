"""Runs the training of a job with the programs of one build, and tells its rate and its CPU time.

The rate of a run is counted from its first commit to its last: starting up, indexing the input and
writing checkpoints are left out. The CPU time per example is of all programs from their start, chief
included; it says what the parameter servers cost also where other work on the machine blurs the
rates.
"""

import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.request

# Replicas of ps and of worker; None: without processes, by the program one_process.
ARRANGEMENTS = {"one_process": None, "1ps_1worker": 1, "2ps_2workers": 2}
RECORDS = 200_000
QUICK_RECORDS = 20_000
THREADS = 2
POLL_S = 0.05
RUN_LIMIT_S = 600
JOB = pathlib.Path(__file__).with_name("criteo.yaml")


class Build:
    """The programs of one build, and the job that they train, which is of the same version."""

    def __init__(self, programs, scratch, cpus, job=JOB):
        """`scratch`: a folder that may exist; `cpus`: a list for taskset."""
        self.bin = pathlib.Path(programs)
        self.job = pathlib.Path(job)
        self.scratch = pathlib.Path(scratch)
        self.scratch.mkdir(exist_ok=True)
        self.pin = ["taskset", "-c", cpus]

    def has(self, arrangement):
        return ARRANGEMENTS[arrangement] is not None or (self.bin / "one_process").exists()

    def make_data(self, folder, records):
        folder.mkdir()
        subprocess.run([self.bin / "criteo_data", folder / "criteo.csv", str(records)], check=True)

    def run(self, arrangement, data, epochs):
        """The outcome of one run over the data of that folder; exits when it fails."""
        replicas = ARRANGEMENTS[arrangement]
        if replicas is None:
            return self.one_process(data, epochs)
        return self.processes(replicas, data, epochs)

    def one_process(self, data, epochs):
        """The outcome of the engine without processes."""
        command = self.pin + [self.bin / "one_process", self.job, data / "criteo.csv", str(epochs),
                              str(THREADS), self.scratch / "unpacked"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True,
                              timeout=RUN_LIMIT_S)
        outcome = json.loads(done.stdout)
        return {"examples_per_s": outcome["examples_per_s"], "seconds": outcome["seconds"],
                "cpu_us_per_example": 1e6 * outcome["cpu_seconds"] / outcome["examples"],
                "replicas": {"threads": {"cpu_seconds": outcome["cpu_seconds"],
                                         "phase_seconds": outcome["phase_seconds"]}}}

    def processes(self, replicas, data, epochs):
        """The outcome of `pstrain run` with that many ps and workers."""
        folder = self.scratch / "run"
        folder.mkdir()
        command = self.pin + [self.bin / "pstrain", "run", self.job, "--json",
                              "--volume", f"data={data}",
                              "--set", f"spec.replicaSpecs.ps.replicas={replicas}",
                              "--set", f"spec.replicaSpecs.worker.replicas={replicas}",
                              "--set", f"spec.training.epochs={epochs}"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as run:
            outcome = watch(run, folder / ".pstrain" / "criteo" / "endpoints.json")
            stdout, stderr = run.communicate()
        report = json.loads(stdout.splitlines()[-1]) if stdout else {}
        wanted = report.get("examples_expected")
        if run.returncode != 0 or outcome is None or any(
                report.get(key) != wanted
                for key in ("examples_committed", "applied_min", "applied_max")):
            sys.exit(f"bench: the run failed (exit {run.returncode}): {report}\n{stderr[-4000:]}")
        subprocess.run(["rm", "-rf", folder], check=True)
        return outcome


def progress(url):
    with urllib.request.urlopen(url.replace("/metrics", "/progress"), timeout=2) as answer:
        return json.load(answer)


def replicas_of(endpoints):
    try:
        return json.loads(endpoints.read_text())["replicas"]
    except (OSError, ValueError):
        return []


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def details(endpoints):
    """What each replica says of its time, by role and index."""
    found = {}
    for replica in replicas_of(endpoints):
        state = progress(replica["metrics"])
        values = state["values"]
        numbers = {"cpu_seconds": cpu_seconds(state["child_pid"])}
        for key in ("queue_seconds", "busy_seconds"):
            if key in values:
                numbers[key] = values[key]
        phases = {key.split(".", 1)[1]: value for key, value in values.items()
                  if key.startswith("phase_seconds.")}
        if phases:
            numbers["phase_seconds"] = phases
        found[f"{replica['role']}-{replica['index']}"] = numbers
    return found


def watch(run, endpoints):
    """Follows the chief's count of examples from the first commit to the last; None when the run
    ends before, or is ended because it takes too long."""
    begin = None  # the last look before the first commit
    limit = time.monotonic() + RUN_LIMIT_S
    while run.poll() is None:
        now, values = time.monotonic(), chief_values(endpoints)
        if now > limit:
            run.terminate()
            break
        committed = values.get("examples_committed") or 0
        if begin is None or committed == 0:
            begin = (now, committed)
        elif committed == values.get("examples_expected"):
            seconds = now - begin[0]
            replicas = details(endpoints)
            cpu = sum(replica["cpu_seconds"] for replica in replicas.values())
            return {"examples_per_s": (committed - begin[1]) / seconds, "seconds": seconds,
                    "cpu_us_per_example": 1e6 * cpu / committed, "replicas": replicas}
        time.sleep(POLL_S)
    return None


def chief_values(endpoints):
    """What the chief says of the run; nothing while it cannot be asked."""
    for replica in replicas_of(endpoints):
        if replica["role"] == "chief":
            try:
                return progress(replica["metrics"])["values"]
            except OSError:
                break
    return {}
