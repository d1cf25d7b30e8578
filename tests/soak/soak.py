"""scripts/soak.sh says what this is."""

import argparse
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time

import growth
import random_faults
import replicas
from job import Job, write_data

EVERY_S = float(os.environ.get("PSTRAIN_SOAK_EVERY_S", "3"))
# A job without faults; with them it may need as long again for each of them, and then some.
JOB_S = 60
LIMIT_S = float(os.environ.get("PSTRAIN_SOAK_LIMIT_S", "600"))


def complain(text):
    sys.exit(f"soak: {text}")


class Soak:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.rng = random.Random(options.seed)
        self.kinds, without = random_faults.kinds_of(options.bin, options.namespaces)
        for what in without:
            print(f"soak: {what}", file=sys.stderr)
        if options.kinds is not None:
            self.kinds = {kind: self.kinds[kind] for kind in options.kinds.split(",") if kind}
        self.growth = growth.Growth()
        self.counted = {kind: 0 for kind in self.kinds}
        self.examples = 0

    def strike(self, job, active):
        """Begins one more fault; `active` are those that have not ended."""
        if not self.kinds:
            return
        kind = self.rng.choice(sorted(self.kinds))
        fault = self.kinds[kind](job, self.rng)
        begun = next(fault, None)
        if begun is None:
            return
        lasts, what = begun
        self.counted[kind] += 1
        print(f"soak: {job.seconds():6.1f} s  {what}" + (f" for {lasts} s" if lasts else ""),
              file=sys.stderr, flush=True)
        active.append((time.monotonic() + lasts, fault))

    @staticmethod
    def undo(active, now):
        for entry in list(active):
            if entry[0] <= now:
                next(entry[1], None)
                active.remove(entry)

    def watch(self, job, strikes):
        """Until the job has ended; faults only where wanted."""
        active, last = [], time.monotonic()
        try:
            while job.running():
                now = time.monotonic()
                self.undo(active, now)
                if now - last >= EVERY_S:
                    last = now
                    self.growth.sample(replicas.replicas(job.pid))
                    if strikes and job.seconds() < LIMIT_S / 2:
                        self.strike(job, active)
                if job.seconds() > LIMIT_S:
                    job.process.kill()
                    complain(f"{job.work.name} did not end within {LIMIT_S:g} s, the last "
                             f"{LIMIT_S / 2:g} s of them without a fault; see {job.log}")
                time.sleep(0.05)
        finally:
            self.undo(active, float("inf"))

    def run_job(self, number, epochs, strikes):
        self.growth.begin()
        job = Job(self.options.bin, self.work, f"job-{number}", epochs, self.options.namespaces)
        before = sum(self.counted.values())
        self.watch(job, strikes)
        examples, fault = job.outcome()
        if fault:
            complain(f"{job.work.name}: {fault}; see {job.log}")
        seconds = job.seconds()
        self.growth.end(job.volume)
        if leftovers := self.growth.leftovers():
            complain(f"{job.work.name} has left {leftovers}")
        if left := replicas.replicas(job.pid):
            complain(f"{job.work.name} has left {[process.name for process in left]}")
        self.examples += examples
        print(json.dumps({"job": number, "epochs": epochs, "examples": examples,
                          "seconds": round(seconds, 1),
                          "faults": sum(self.counted.values()) - before,
                          "most": self.growth.summary()}), flush=True)
        job.remove()
        return seconds

    def run(self):
        end = time.monotonic() + 60 * self.options.minutes
        epochs = 100
        seconds = self.run_job(0, epochs, strikes=False)
        epochs = max(100, int(epochs * JOB_S / seconds))
        number = 0
        while number == 0 or time.monotonic() < end:
            number += 1
            self.run_job(number, epochs, strikes=True)
        complaints = self.growth.complaints()
        print(json.dumps({"soak": "ended", "seed": self.options.seed, "jobs": number,
                          "examples": self.examples, "faults": self.counted,
                          "grown": complaints}), flush=True)
        if complaints:
            complain("grown: " + "; ".join(complaints))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--namespaces", action="store_true",
                        help="this process has mount and network namespaces of its own")
    parser.add_argument("--kinds", help="only these kinds of faults, joined by commas")
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    work = tempfile.mkdtemp(prefix="soak")
    write_data(work)
    print(f"soak: {options.minutes:g} minutes, seed {options.seed}, in {work}", file=sys.stderr)
    Soak(options, work).run()
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
