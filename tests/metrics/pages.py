#!/usr/bin/env python3
"""pages.py ROOT BIN SERVE_FAKE_APISERVER [PROMTOOL]: the pages that the operator and the agents of a
training job serve, against docs/metrics.md: every family of a page is in it with its type, labels
and text, every family in it is on the page, and no page has more series than it says. With a
PROMTOOL, `promtool check metrics` finds nothing."""

import collections
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import document

ROOT, BIN, APISERVER = map(pathlib.Path, sys.argv[1:4])
PROMTOOL = sys.argv[4] if len(sys.argv) > 4 else ""
TABLES, BUDGETS = document.read(ROOT)
LIMIT_S = 120
SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? \S+(?: \d+)?$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
PARTS = ("_bucket", "_sum", "_count")
# Only where replicas show tokens, which those of pstrain run do not.
MAY_LACK = {"pstrain_runtime_token_expiry_timestamp_seconds"}

JOB = {
    "apiVersion": "pstrain.dev/v1alpha1", "kind": "PSTrainingJob",
    "metadata": {"name": "a", "namespace": "ml", "generation": 1,
                 "creationTimestamp": "2026-01-02T03:04:05Z",
                 "annotations": {"pstrain.dev/alerts": "off"}},
    "spec": {"replicaSpecs": {
        role: {"replicas": count, "template": {"spec": {"containers": [{"image": "mine"}]}}}
        for role, count in (("chief", 1), ("ps", 2), ("worker", 3), ("evaluator", 1))}},
}


class Page:
    """Families and series of a text."""

    def __init__(self, text):
        self.text, self.help, self.type = text, {}, {}
        self.labels = collections.defaultdict(set)  # by family
        self.series = []  # (name, labels)
        for line in text.splitlines():
            if line.startswith("# HELP "):
                name, _, words = line[len("# HELP "):].partition(" ")
                self.help[name] = words
            elif line.startswith("# TYPE "):
                name, kind = line[len("# TYPE "):].split(" ")
                self.type[name] = kind
            elif line:
                name, labels = SAMPLE.match(line).groups()
                labels = dict(LABEL.findall(labels or ""))
                self.series.append((name, labels))
                family = next((name[:-len(part)] for part in PARTS if name.endswith(part) and
                               self.type.get(name[:-len(part)]) == "histogram"), name)
                self.labels[family] |= labels.keys() - {"le"}


def until(what, condition):
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        try:
            found = condition()
            if found:
                return found
        except (OSError, urllib.error.URLError, ValueError, KeyError):
            pass
        time.sleep(0.1)
    raise TimeoutError(f"no {what} after {LIMIT_S} s")


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Pages(unittest.TestCase):
    def compare(self, page, sources):
        """The page has the families of these tables, and no others."""
        wanted = {}
        for source in sources:
            for name, family in TABLES[source].items():
                wanted[name] = family
        self.assertEqual(page.type.keys() - wanted.keys(), set(), "not in docs/metrics.md")
        self.assertEqual(wanted.keys() - page.type.keys() - MAY_LACK, set(), "not on the page")
        for name, kind in page.type.items():
            self.assertEqual((name, kind), (name, wanted[name].type))
            self.assertEqual(page.help[name], wanted[name].help, name)
            if page.labels[name]:
                self.assertEqual(page.labels[name], wanted[name].labels, name)

    def lint(self, page, name):
        if not PROMTOOL:
            return
        done = subprocess.run([PROMTOOL, "check", "metrics"], input=page.text, text=True,
                              capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), name)
        print(f"promtool check metrics: nothing about the page of {name}")

    def test_the_operator(self):
        work = pathlib.Path(WORK)
        (work / "job.json").write_text(json.dumps(JOB), encoding="utf-8")
        port = free_port()
        with subprocess.Popen([APISERVER, work / "job.json"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as api:
            server = f"http://127.0.0.1:{int(api.stdout.readline())}"
            (work / "kubeconfig").write_text(json.dumps({
                "apiVersion": "v1", "kind": "Config", "current-context": "c",
                "clusters": [{"name": "c", "cluster": {"server": server}}],
                "users": [{"name": "u", "user": {}}],
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            }), encoding="utf-8")
            with open(work / "operator.log", "w", encoding="utf-8") as log:
                operator = subprocess.Popen(
                    [BIN / "pstrain-operator", f"--kubeconfig={work / 'kubeconfig'}",
                     f"--metrics-bind-address=127.0.0.1:{port}",
                     f"--health-probe-bind-address=127.0.0.1:{free_port()}"],
                    stdout=log, stderr=log)
            try:
                url = f"http://127.0.0.1:{port}/metrics"
                has_status = 'pstrain_job_spec_replicas{namespace="ml",job_name="a",replica_type="ps"} 2'
                page = Page(until("status of the job", lambda: has_status in get(url) and get(url)))
            except TimeoutError:
                print((work / "operator.log").read_text(encoding="utf-8"))
                raise
            finally:
                operator.terminate()
                operator.wait()
                api.stdin.close()
        self.compare(page, ["operator"])
        self.lint(page, "the operator")
        of_job = [series for series in page.series if series[1].get("job_name") == "a"]
        self.assertIn(("pstrain_job_info", {"namespace": "ml", "job_name": "a", "program": "own",
                                            "queue": "", "alerts": "off"}), of_job)
        self.assertLessEqual(len(of_job), BUDGETS["job"])
        self.assertLessEqual(len(page.series) - len(of_job), BUDGETS["operator"])
        restarts = {labels["cause"] for name, labels in of_job
                    if name == "pstrain_job_restarts_total"}
        self.assertGreaterEqual(restarts, {"crashed", "oom_killed", "preempted", "node_lost"})
        print(f"{len(of_job)} series of a job, {len(page.series) - len(of_job)} others")

    def test_each_role(self):
        work = pathlib.Path(WORK) / "run"
        shutil.copytree(ROOT / "examples" / "adult", work)
        with open(work / "run.log", "w", encoding="utf-8") as log:
            run = subprocess.Popen(
                [BIN / "pstrain", "run", "job.yaml", "--volume", "data=data",
                 "--set", "spec.training.epochs=100000"],
                cwd=work, stdout=log, stderr=log)
        try:
            endpoints = until("replicas", lambda: json.loads(next(
                work.glob(".pstrain/*/endpoints.json")).read_text(encoding="utf-8"))["replicas"]
                if any(work.glob(".pstrain/*/endpoints.json")) else None)
            of_role = {replica["role"]: replica["metrics"] for replica in endpoints}
            self.assertEqual(of_role.keys(), {"chief", "ps", "worker", "evaluator"})
            for role, url in of_role.items():
                page = Page(until(f"stats of the {role}", lambda u=url: (
                    lambda text: "pstrain_runtime_ready" in text and 'process="runtime"' in text and
                    all(name in text for name in TABLES[role].keys() - MAY_LACK) and text)(get(u))))
                self.compare(page, ["agent", role])
                self.lint(page, f"role {role}")
                self.assertLessEqual(len(page.series), BUDGETS["replica"])
                print(f"{len(page.series)} series of role {role}")
        except Exception:
            print((work / "run.log").read_text(encoding="utf-8")[-4000:])
            raise
        finally:
            run.terminate()
            run.wait()


with tempfile.TemporaryDirectory() as WORK:
    unittest.main(argv=[sys.argv[0]], verbosity=1)
