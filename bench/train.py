"""Examples per second of training as processes, against the same engine in one process.

Each round runs every variant once, one after the other, so that what else the machine does meets all
of them; a ratio is the median over the rounds of the ratio within a round. The rate of a run is
counted from its first commit to its last: starting up, indexing the input and writing checkpoints
are left out on both sides. The CPU time per example is of all programs from their start, chief included; it
says what the parameter servers cost also where other work on the machine blurs the rates.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
import urllib.request

RECORDS = 200_000
QUICK_RECORDS = 20_000
ROUNDS = 5
SECONDS = 22  # what the fastest variant should take at least
POLL_S = 0.05
VARIANTS = [("1ps_1worker", 1), ("2ps_2workers", 2)]
BASELINE = "one_process"
THREADS = 2
JOB = pathlib.Path(__file__).with_name("criteo.yaml")


class Bench:
    def __init__(self, options):
        self.bin = pathlib.Path(options.bin)
        self.scratch = pathlib.Path(options.scratch)
        self.pin = ["taskset", "-c", options.cpus]
        self.data = self.scratch / "data"
        self.data.mkdir()

    def make_data(self, records):
        subprocess.run([self.bin / "criteo_data", self.data / "criteo.csv", str(records)], check=True)

    def one_process(self, epochs):
        """The outcome of the engine without processes."""
        command = self.pin + [self.bin / "one_process", JOB, self.data / "criteo.csv", str(epochs),
                              str(THREADS), self.scratch / "unpacked"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        outcome = json.loads(done.stdout)
        return {"examples_per_s": outcome["examples_per_s"], "seconds": outcome["seconds"],
                "cpu_us_per_example": 1e6 * outcome["cpu_seconds"] / outcome["examples"],
                "replicas": {"threads": {"cpu_seconds": outcome["cpu_seconds"],
                                         "phase_seconds": outcome["phase_seconds"]}}}

    def processes(self, replicas, epochs):
        """The outcome of `pstrain run` with that many ps and workers."""
        folder = self.scratch / "run"
        folder.mkdir()
        command = self.pin + [self.bin / "pstrain", "run", JOB, "--json",
                              "--volume", f"data={self.data}",
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
    """Follows the chief's count of examples from the first commit to the last."""
    begin = None  # the last look before the first commit
    while run.poll() is None:
        now, values = time.monotonic(), chief_values(endpoints)
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


def print_line(variant, outcomes, ratios):
    rates = [outcome["examples_per_s"] for outcome in outcomes]
    line = {"bench": "train", "variant": variant, "unit": "examples/s",
            "min": round(min(rates)), "median": round(statistics.median(rates)),
            "max": round(max(rates)), "runs": [round(rate) for rate in rates],
            "seconds": [round(outcome["seconds"], 1) for outcome in outcomes],
            "cpu_us_per_example": round(statistics.median(
                outcome["cpu_us_per_example"] for outcome in outcomes), 1)}
    if ratios:
        line["ratio_to"] = BASELINE
        line["ratio"] = round(statistics.median(ratios), 3)
        line["ratios"] = [round(ratio, 3) for ratio in ratios]
    middle = sorted(outcomes, key=lambda outcome: outcome["examples_per_s"])[len(outcomes) // 2]
    line["time_of_median_run"] = rounded(middle["replicas"])
    print(json.dumps(line), flush=True)


def rounded(tree):
    if isinstance(tree, dict):
        return {key: rounded(value) for key, value in tree.items()}
    return round(tree, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="folder of the programs")
    parser.add_argument("--cpus", required=True, help="list for taskset")
    parser.add_argument("--scratch", required=True, help="empty folder for data and runs")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    bench = Bench(options)
    bench.make_data(QUICK_RECORDS if options.quick else RECORDS)
    rounds, epochs = 1, 1
    if not options.quick:
        rounds = options.rounds
        # Later epochs are faster, because the rows exist: the second of two tells.
        rate = bench.one_process(2)["examples_per_s"]
        epochs = max(2, round(1.25 * SECONDS * rate / RECORDS))
    outcomes = {BASELINE: []} | {variant: [] for variant, _ in VARIANTS}
    for _ in range(rounds):
        outcomes[BASELINE].append(bench.one_process(epochs))
        for variant, replicas in VARIANTS:
            outcomes[variant].append(bench.processes(replicas, epochs))
    for variant, measured in outcomes.items():
        ratios = [] if variant == BASELINE else [
            outcome["examples_per_s"] / base["examples_per_s"]
            for outcome, base in zip(measured, outcomes[BASELINE])]
        print_line(variant, measured, ratios)


if __name__ == "__main__":
    main()
