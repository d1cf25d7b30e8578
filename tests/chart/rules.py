#!/usr/bin/env python3
"""rules.py ROOT HELM YAML_TO_JSON PROMTOOL: the rules of the chart, as Helm renders them, under
promtool: `check rules`, and the cases of tests/chart/rules by `test rules`. Each rule has a case in
which it fires and one in which it does not."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "tests" / "metrics"))
import document  # noqa: E402
import promql  # noqa: E402

ROOT, HELM, YAML_TO_JSON, PROMTOOL = map(pathlib.Path, sys.argv[1:5])
CASES = ROOT / "tests" / "chart" / "rules"


def read_yaml(text):
    lines = subprocess.run([YAML_TO_JSON], input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in lines.stdout.splitlines()]


def cases_of(name):
    # The converter reads objects.
    text = (CASES / f"{name}.yaml").read_text(encoding="utf-8")
    return read_yaml("tests:\n" + text)[0]["tests"]


def render(*values):
    arguments = [HELM, "template", "pstrain", ROOT / "helm" / "pstrain", "--api-versions",
                 "monitoring.coreos.com/v1"]
    for value in ("metrics.prometheusRule.enabled=true",
                  "metrics.prometheusRule.runbookBaseUrl=https://wiki/runbooks/", *values):
        arguments += ["--set", value]
    text = subprocess.run(arguments, capture_output=True, text=True, check=True,
                          env=dict(os.environ, HOME=WORK, KUBECONFIG=os.devnull)).stdout
    return next(item for item in read_yaml(text) if item["kind"] == "PrometheusRule")["spec"]


def rules_of(spec, kind):
    return {rule[kind]: rule for group in spec["groups"] for rule in group["rules"] if kind in rule}


def promtool(*arguments):
    done = subprocess.run([PROMTOOL, *arguments], capture_output=True, text=True, cwd=WORK,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def write(name, content):
    (pathlib.Path(WORK) / name).write_text(json.dumps(content), encoding="utf-8")


class Rules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.spec = render()
        write("all.yaml", cls.spec)
        # Of a case the labels are compared: numbers in texts follow from windows, inexactly.
        bare = json.loads(json.dumps(cls.spec))
        for rule in rules_of(bare, "alert").values():
            del rule["annotations"]
        write("rules.yaml", bare)

    def run_cases(self, name):
        cases = cases_of(name)
        write("tests.yaml", {"rule_files": ["rules.yaml"], "evaluation_interval": "30s",
                             "tests": cases})
        code, text = promtool("test", "rules", "tests.yaml")
        self.assertEqual(code, 0, text)
        return cases

    def test_promtool_reads_them(self):
        code, text = promtool("check", "rules", "all.yaml")
        self.assertEqual(code, 0, text)
        print(text.strip().splitlines()[-1].strip())

    def test_each_alert_fires_and_stays_silent(self):
        alerts = rules_of(self.spec, "alert")
        self.assertEqual({path.stem for path in CASES.glob("*.yaml")},
                         alerts.keys() | {"recording"})
        for name, rule in alerts.items():
            with self.subTest(name):
                expected = [test["exp_alerts"] for case in self.run_cases(name)
                            for test in case["alert_rule_test"] if test["alertname"] == name]
                fires = [alerts for alerts in expected if alerts]
                self.assertTrue(fires, "no case in which it fires")
                self.assertLess(len(fires), len(expected), "no case in which it does not")
                # A label that the alert has not would be an empty place in its text.
                used = set(re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"])))
                self.assertLessEqual(used, fires[0][0]["exp_labels"].keys())

    def test_each_recording_rule_has_values_and_none(self):
        cases = self.run_cases("recording")
        for name in rules_of(self.spec, "record"):
            samples = [test["exp_samples"] for case in cases
                       for test in case["promql_expr_test"] if test["expr"] == name]
            self.assertTrue(any(samples), name)
            self.assertFalse(all(samples), name)

    def test_a_wrong_expectation_is_found(self):
        case = cases_of("JobBlocked")[0]
        case["alert_rule_test"][0]["exp_alerts"] = []
        write("wrong.yaml", {"rule_files": ["rules.yaml"], "tests": [case]})
        self.assertNotEqual(promtool("test", "rules", "wrong.yaml")[0], 0)

    def test_they_use_metrics_and_labels_that_exist(self):
        tables, _ = document.read(ROOT)
        names, labels = set(), set(promql.LABELS_OF_PROMETHEUS)
        for families in tables.values():
            names |= document.series_names(families)
            for family in families.values():
                labels |= family.labels
        names |= rules_of(self.spec, "record").keys()
        for rule in [*rules_of(self.spec, "alert").values(),
                     *rules_of(self.spec, "record").values()]:
            expression = rule["expr"]
            asked = promql.names_in(expression)
            self.assertTrue(asked, expression)
            self.assertEqual(asked - names, set(), expression)
            self.assertEqual(promql.labels_in(expression) - labels, set(), expression)

    def test_every_alert_says_what_it_is_and_no_placeholder_is_left(self):
        spec = render("metrics.prometheusRule.alertLabels.team=ml")
        for name, rule in rules_of(spec, "alert").items():
            self.assertIn(rule["labels"]["severity"], ("critical", "warning", "info"))
            self.assertEqual(rule["labels"]["team"], "ml")
            self.assertEqual(rule["annotations"].keys(),
                             {"summary", "description", "runbook_url"})
            self.assertEqual(rule["annotations"]["runbook_url"], f"https://wiki/runbooks/{name}.md")
            self.assertIsNone(re.search(r"<\w+>", json.dumps(rule)), rule)

    def test_values_change_thresholds_windows_and_names(self):
        short = render("metrics.prometheusRule.window=1m", "metrics.prometheusRule.interval=5s",
                       "metrics.prometheusRule.alerts.PSTrainingJobStalled.for=20s",
                       "metrics.prometheusRule.alerts.CheckpointStale.intervals=7",
                       "metrics.prometheusRule.alerts.ApiThrottled.enabled=false")
        alerts = rules_of(short, "alert")
        self.assertEqual(alerts["PSTrainingJobStalled"]["for"], "20s")
        self.assertIn(":rate1m == 0", alerts["PSTrainingJobStalled"]["expr"])
        self.assertIn("namespace_job_name:pstrain_worker_steps:rate1m", rules_of(short, "record"))
        self.assertIn("> 7 * ", alerts["CheckpointStale"]["expr"])
        self.assertNotIn("ApiThrottled", alerts)
        self.assertEqual({group["interval"] for group in short["groups"]}, {"5s"})

    def test_the_annotation_silences_what_is_about_a_job(self):
        for name, rule in rules_of(self.spec, "alert").items():
            about_a_job = "$labels.job_name" in json.dumps(rule["annotations"])
            self.assertEqual(about_a_job, 'pstrain_job_info{alerts="off"}' in rule["expr"], name)

    def test_promtool_reads_every_query_of_the_dashboards(self):
        chosen = ["__rate_interval=30s", "__range=10m", "namespace=n", "job_name=j", "instance=i"]
        queries = subprocess.run(
            [sys.executable, "-B", ROOT / "e2e" / "dashboard_queries.py", *chosen,
             *sorted((ROOT / "helm" / "pstrain" / "dashboards").glob("*.json"))],
            capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertGreater(len(queries), 100)
        self.assertNotIn("$", "".join(queries))
        write("queries.yaml", {"groups": [{"name": "dashboards", "rules": [
            {"record": f"query:{number}", "expr": query}
            for number, query in enumerate(queries)]}]})
        code, text = promtool("check", "rules", "queries.yaml")
        self.assertEqual(code, 0, text)


with tempfile.TemporaryDirectory() as WORK:
    unittest.main(argv=[sys.argv[0]], verbosity=1)
