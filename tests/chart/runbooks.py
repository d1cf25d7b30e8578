#!/usr/bin/env python3
"""runbooks.py ROOT: every alert of the chart has its runbook, every runbook its alert, and each says
what the alert means, three commands and when to ignore it. Alerts, their values and their cases
under promtool have the same names."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv[1])
CHART = ROOT / "helm" / "pstrain"


def stems(folder, pattern):
    return {path.stem for path in folder.glob(pattern)}


class Runbooks(unittest.TestCase):
    alerts = stems(CHART / "rules" / "alerts", "*.yaml")

    def test_alerts_and_runbooks_are_the_same(self):
        self.assertGreaterEqual(len(self.alerts), 12)
        self.assertEqual(stems(ROOT / "docs" / "runbooks", "*.md"), self.alerts)

    def test_alerts_and_cases_are_the_same(self):
        self.assertEqual(stems(ROOT / "tests" / "chart" / "rules", "*.yaml"),
                         self.alerts | {"recording"})

    def test_alerts_and_values_are_the_same(self):
        values = (CHART / "values.yaml").read_text(encoding="utf-8")
        table = re.search(r"^    alerts:\n((?:      .*\n)+)", values, re.MULTILINE).group(1)
        self.assertEqual(set(re.findall(r"^      (\w+):", table, re.MULTILINE)), self.alerts)

    def test_each_says_what_to_do(self):
        for name in sorted(self.alerts):
            text = (ROOT / "docs" / "runbooks" / f"{name}.md").read_text(encoding="utf-8")
            with self.subTest(name):
                self.assertEqual(re.findall(r"^#+ .*$", text, re.MULTILINE),
                                 [f"# {name}", "## Meaning", "## Three commands",
                                  "## When to ignore"])
                blocks = re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
                self.assertEqual(len(blocks), 1)
                commands = blocks[0].splitlines()
                self.assertEqual(len(commands), 3)
                for command in commands:
                    self.assertRegex(command, r"^kubectl ")
                for section in re.split(r"^## .*$", text, flags=re.MULTILINE)[1:]:
                    self.assertGreater(len(section.split()), 8)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
