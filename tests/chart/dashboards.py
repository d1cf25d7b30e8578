#!/usr/bin/env python3
"""dashboards.py ROOT: the dashboards of the chart are those that metrics/dashboards makes, and good
ones (dashboard_rules.py); and the rules see what they are for."""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1])
SOURCE = ROOT / "metrics" / "dashboards"
sys.path[1:1] = [str(ROOT / "tests" / "metrics"), str(SOURCE)]
import dashboard_rules as rules  # noqa: E402
import model  # noqa: E402
from boards import BOARDS  # noqa: E402

CHART = ROOT / "helm" / "pstrain"
ALERTS = {path.stem for path in (CHART / "rules" / "alerts").glob("*.yaml")}
SHIPPED = {path.stem: json.loads(path.read_text(encoding="utf-8"))
           for path in (CHART / "dashboards").glob("*.json")}
TARGETS = [target for board in BOARDS for row in board.rows for panel in row.panels
           for target in panel.targets]
METRICS = rules.Metrics(ROOT)
TEXTS = {scrape.name: scrape.value for scrape in model.Scrape}


def complaints(dashboard):
    bare = {target.expr for target in TARGETS if target.bare_counter}
    return [*rules.unknown_names(dashboard, METRICS), *rules.lint(dashboard, bare),
            *rules.wrong_scrapes(dashboard, METRICS, TEXTS), *rules.layout(dashboard),
            *rules.dead_links(dashboard, SHIPPED, ALERTS, model.RUNBOOKS)]


class Dashboards(unittest.TestCase):
    def test_they_are_what_the_source_makes(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "gone.json").write_text("{}", encoding="utf-8")
            subprocess.run([sys.executable, "-B", SOURCE / "generate.py", folder], check=True)
            made = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
        shipped = {path.name: path.read_bytes() for path in (CHART / "dashboards").iterdir()}
        self.assertEqual(made.keys(), shipped.keys())
        for name, content in made.items():
            self.assertTrue(content == shipped[name], f"{name} is stale: scripts/generate.sh")

    def test_there_are_four_and_they_are_good(self):
        self.assertEqual(SHIPPED.keys(), {"pstrain-fleet", "pstrain-job", "pstrain-ps-load",
                                          "pstrain-operator"})
        for uid, dashboard in SHIPPED.items():
            self.assertEqual(dashboard["uid"], uid)
            self.assertEqual(complaints(dashboard), [], uid)
            self.assertGreaterEqual(len(rules.targets_of(dashboard)), 15)

    def test_each_alert_has_a_panel_that_links_to_its_runbook(self):
        linked = {link["url"] for dashboard in SHIPPED.values()
                  for panel in rules.panels_of(dashboard) for link in panel.get("links", [])}
        self.assertEqual(linked, {f"{model.RUNBOOKS}/{alert}.md" for alert in ALERTS})

    def test_each_shows_restarts_and_what_is_scraped(self):
        for uid, dashboard in SHIPPED.items():
            notes = [note["expr"] for note in dashboard["annotations"]["list"]]
            self.assertTrue(any("pstrain_job_restarts_total" in expr for expr in notes), uid)
            [scrapes] = [panel for panel in rules.panels_of(dashboard)
                         if panel["title"] == "Scrapes"]
            for target in scrapes["targets"]:
                self.assertTrue(target["expr"].endswith(" or vector(0)"))
            self.assertIn("not scraped", json.dumps(scrapes["fieldConfig"]["defaults"]["mappings"]))

    def test_exceptions_have_reasons_and_are_few(self):
        self.assertLessEqual(sum(bool(target.may_be_empty) for target in TARGETS), 2)
        self.assertLessEqual(sum(bool(target.bare_counter) for target in TARGETS), 2)


def change(path, value):
    """A dashboard with one value at that path changed, of the first panel that has the path."""
    def changed(dashboard):
        for panel in rules.panels_of(dashboard):
            place = panel
            try:
                for key in path[:-1]:
                    place = place[key]
                place[path[-1]]
            except (KeyError, IndexError):
                continue
            place[path[-1]] = value
            return
        raise AssertionError(f"no panel has {path}")
    return changed


def expression(value):
    return change(("targets", 0, "expr"), value)


# What is done to a dashboard -> what is said of it.
FAULTS = {
    "there is no metric pstrain_worker_steps": expression("sum(pstrain_worker_steps)"),
    "has no label role": expression('sum(pstrain_worker_loss{role="worker"})'),
    "has the label worker": expression("sum by (worker) (pstrain_worker_loss)"),
    "asks for no metric": expression("vector(1)"),
    "there is no variable jobname": expression('sum(pstrain_worker_loss{job_name="$jobname"})'),
    "target-rate-interval-rule": expression("sum(rate(pstrain_worker_steps_total[5m]))"),
    "target-counter-agg-rule": expression("sum(pstrain_worker_steps_total)"),
    "says nothing where there is no data": change(("fieldConfig", "defaults", "noValue"), ""),
    "panel-title-description-rule": change(("description",), ""),
    "panel-datasource-rule": change(("datasource", "uid"), "prometheus"),
    "panel-no-targets-rule": change(("targets",), []),
    "the legend's pod is not in the result": change(("targets", 0, "legendFormat"), "{{pod}}"),
    "it has no legend": change(("targets", 0, "legendFormat"), "__auto"),
    "is no runbook": change(("links", 0, "url"), model.RUNBOOKS + "/Gone.md"),
    "there is no dashboard pstrain-gone": change(("fieldConfig", "defaults", "links", 0, "url"),
                                                 "/d/pstrain-gone?var-job_name=x"),
    "has no variable job": change(("fieldConfig", "defaults", "links", 0, "url"),
                                  "/d/pstrain-job?var-job=x"),
    "the link's pod is not in the result": change(("fieldConfig", "defaults", "links", 0, "url"),
                                                  "/d/pstrain-job?a=${__field.labels.pod}"),
    "lies on": change(("gridPos",), {"x": 6, "y": 1, "w": 8, "h": 8}),
    "beyond the right edge": change(("gridPos", "w"), 25),
    "is there twice": change(("id",), 1),
    "uneditable-dashboard-rule": lambda dashboard: dashboard.update(editable=True),
    "template-datasource-rule": lambda dashboard: dashboard["templating"]["list"].pop(0),
    "template-on-time-change-reload-rule":
        lambda dashboard: dashboard["templating"]["list"][1].update(refresh=1),
    "no link to pstrain-job": lambda dashboard: dashboard.update(links=[]),
    "panel-units-rule": lambda dashboard:
        rules.panels_of(dashboard)[0]["fieldConfig"]["defaults"].pop("unit"),
    "Grafana turns values": lambda dashboard:
        rules.panels_of(dashboard)[0]["fieldConfig"]["defaults"].pop("thresholds"),
}


class Faults(unittest.TestCase):
    def test_each_fault_is_seen(self):
        for words, fault in FAULTS.items():
            with self.subTest(words):
                broken = copy.deepcopy(SHIPPED["pstrain-fleet"])
                fault(broken)
                self.assertIn(words, "\n".join(complaints(broken)))

    def test_the_wrong_scrape_is_seen(self):
        for shown, asked in (("OPERATOR", "pstrain_worker_loss"), ("REPLICAS", "pstrain_jobs")):
            broken = copy.deepcopy(SHIPPED["pstrain-job"])
            panel = rules.panels_of(broken)[0]
            panel["targets"] = [panel["targets"][0] | {"expr": f"max({asked})"}]
            panel["fieldConfig"]["defaults"]["noValue"] = TEXTS[shown]
            self.assertTrue(any("without data it says" in text for text in complaints(broken)))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
