"""One `pstrain run` of a small job, in a folder of its own."""

import json
import pathlib
import shutil
import subprocess
import time

RECORDS = 4000
VOLUME_MIB = 64
# Before the last words of a replica.
PROGRAM = "pstrain-runtime: "
EXACT = ("examples_expected", "examples_committed", "applied_min", "applied_max")

MANIFEST = """\
apiVersion: pstrain.dev/v1alpha1
kind: PSTrainingJob
metadata: {{name: soak}}
spec:
  strategy: {{shards: 8}}
  replicaSpecs:
    chief: {{replicas: 1{chief}}}
    ps: {{replicas: 2{ps}}}
    worker: {{replicas: 2{worker}}}
    evaluator: {{replicas: 1{evaluator}}}
  runPolicy: {{backoffLimit: {backoff_limit}}}
  training:
    model: {{wideAndDeep: {{hiddenUnits: [8]}}}}
    features:
      - {{name: age, numeric: {{}}}}
      - {{name: city, embeddingDimension: 4, hashed: {{buckets: 50}}}}
    input:
      csv: {{files: [{data}/train.csv], columns: [label, age, city], labelColumn: label}}
    optimizer: {{adagrad: {{learningRate: 0.01}}}}
    batchSize: 16
    epochs: {epochs}
    peerTimeoutSeconds: {peer_timeout}
    evaluation:
      metrics: [auc]
      deadlineSeconds: {peer_timeout}
      input:
        csv: {{files: [{data}/test.csv], columns: [label, age, city], labelColumn: label}}
    checkpoint: {{directory: {volume}/checkpoints, everySteps: 200, keep: 2}}
"""


# Roles that use the directory of the checkpoints; workers read the input alone.
WITH_FILES = ("chief", "ps", "evaluator")
# What makes calls on files fail in a role's replicas, loaded into them.
TEMPLATE = (", template: {{spec: {{containers: [{{name: training, env: ["
            "{{name: LD_PRELOAD, value: {library}}}, "
            "{{name: PSTRAIN_FAILING_CALLS, value: {order}}}]}}]}}}}")


def preload_of(binaries):
    """The library of tests/process/faults/failing_calls.cc of the same build; None without one."""
    library = pathlib.Path(binaries).parent / "tests/process/faults/libfailing_calls.so"
    return library if library.exists() else None


def write_data(folder):
    for name, records in (("train.csv", RECORDS), ("test.csv", RECORDS // 10)):
        lines = (f"{i % 2},{i * 37 % 100},city{i % 60}\n" for i in range(records))
        (pathlib.Path(folder) / name).write_text("".join(lines))


class Job:
    """One `pstrain run`."""

    def __init__(self, binaries, work, name, epochs, mounted, peer_timeout=300,
                 backoff_limit=1000):
        """`mounted`: the volume of the checkpoints is a tmpfs of its own. Calls on files can fail
        where the build has the library for it: a file order(role) says which."""
        self.work = pathlib.Path(work) / name
        self.work.mkdir()
        self.volume = self.work / "volume"
        self.volume.mkdir()
        self.mounted = mounted
        if self.mounted:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={VOLUME_MIB}m", "tmpfs",
                            self.volume], check=True)
        manifest = self.work / "job.yaml"
        library = preload_of(binaries)
        templates = {role: TEMPLATE.format(library=library, order=self.order(role))
                     if library else "" for role in (*WITH_FILES, "worker")}
        manifest.write_text(MANIFEST.format(data=work, volume=self.volume, epochs=epochs,
                                            peer_timeout=peer_timeout,
                                            backoff_limit=backoff_limit, **templates))
        self.log = self.work / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [binaries / "pstrain", "run", manifest, "--json", "--state-dir",
                 self.work / "state"], stdout=subprocess.PIPE, stderr=log)
        self.pid = self.process.pid
        self._report = None
        self.begun = time.monotonic()

    def order(self, role):
        """The file that says which calls fail in the replicas of that role."""
        return self.work / f"failing-{role}"

    def files_of(self, role):
        """Part of the paths of the files that the role works with while the job trains."""
        return f"{self.volume}/checkpoints/" if role in WITH_FILES else "/train.csv"

    def running(self):
        return self.process.poll() is None

    def seconds(self):
        return time.monotonic() - self.begun

    def report(self):
        """What it has printed. REQUIRES: not running()."""
        if self._report is None:
            self._report = self.process.stdout.read().decode()
        return self._report

    def reason(self):
        """Why it failed, in its own words and in those of the replica that failed last."""
        try:
            reason = json.loads(self.report()).get("reason", "without a reason")
        except ValueError:
            reason = "without a report"
        said = [line.partition(PROGRAM)[2] for line in self.log.read_text().splitlines()
                if PROGRAM in line]
        return f"{reason}; {said[-1]}" if said else reason

    def outcome(self):
        """(examples, None) of a job that has succeeded with exact counts, else (None, why not).
        REQUIRES: not running()."""
        report = self.report()
        if self.process.returncode != 0:
            return None, f"has failed with {self.process.returncode}"
        result = json.loads(report)
        counts = {key: result.get(key) for key in EXACT}
        if None in counts.values() or len(set(counts.values())) != 1:
            return None, f"the counts differ: {counts}"
        return counts["examples_expected"], None

    def remove(self):
        if self.mounted:
            subprocess.run(["umount", self.volume], check=True)
        shutil.rmtree(self.work)
