#!/usr/bin/env python3
"""arrived_alerts.py SOURCE: e2e/alert_receiver.py keeps what an Alertmanager sends, with the page behind
each link, and e2e/arrived_alerts.py finds what came twice, not at all, unexpected, or without a page."""

import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(sys.argv[1])


class Receiver(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.arrived = pathlib.Path(work.name) / "arrived"
        self.arrived.touch()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.base = f"http://127.0.0.1:{probe.getsockname()[1]}"
        receiver = subprocess.Popen(
            [sys.executable, "-B", ROOT / "e2e" / "alert_receiver.py", self.base.split(":")[-1],
             self.arrived, ROOT / "docs" / "runbooks"], stderr=subprocess.DEVNULL)
        self.addCleanup(receiver.wait)
        self.addCleanup(receiver.terminate)
        self.until(lambda: "Meaning" in self.get("/runbooks/JobBlocked.md"))

    @staticmethod
    def until(condition):
        deadline = time.monotonic() + 60
        while True:
            try:
                if condition():
                    return
            except OSError:
                pass
            if time.monotonic() > deadline:
                raise TimeoutError
            time.sleep(0.05)

    def get(self, path):
        with urllib.request.urlopen(self.base + path, timeout=30) as page:
            return page.read().decode()

    def send(self, name, status, page=None, **labels):
        """As https://prometheus.io/docs/alerting/latest/configuration, webhook_config."""
        before = len(self.arrived.read_text(encoding="utf-8").splitlines())
        alert = {"status": status, "labels": {"alertname": name, **labels}, "annotations": {
            "runbook_url": f"{self.base}/runbooks/{page or name}.md"}}
        body = json.dumps({"version": "4", "status": status, "alerts": [alert]}).encode()
        urllib.request.urlopen(self.base + "/alerts", body, timeout=30).close()
        self.until(
            lambda: len(self.arrived.read_text(encoding="utf-8").splitlines()) == before + 1)

    def ask(self, *question):
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "e2e" / "arrived_alerts.py", self.arrived, *question],
            capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def assert_refused(self, words, *names):
        code, said = self.ask("once", *names)
        self.assertEqual(code, 1)
        self.assertIn(words, said)

    def test_what_came_once_and_has_gone_is_well(self):
        self.assertEqual(self.ask("has", "JobBlocked", "firing")[0], 1)
        for status in ("firing", "resolved"):
            self.send("JobBlocked", status, job_name="a")
            self.send("JobBlocked", status, job_name="b")
            self.send("CheckpointStale", status)
        self.assertEqual(self.ask("has", "JobBlocked", "firing")[0], 0)
        self.assertEqual(self.ask("once", "JobBlocked", "CheckpointStale")[0], 0)
        self.assert_refused("CheckpointStale was not expected", "JobBlocked")
        self.assert_refused("ApiThrottled has not arrived", "JobBlocked", "ApiThrottled")

    def test_what_came_twice_or_stays_is_found(self):
        self.send("JobBlocked", "firing")
        self.assert_refused("has arrived as ['firing']", "JobBlocked")
        self.send("JobBlocked", "firing")
        self.send("JobBlocked", "resolved")
        self.assert_refused("has arrived as ['firing', 'firing', 'resolved']", "JobBlocked")

    def test_a_link_that_opens_nothing_or_another_page_is_found(self):
        self.send("JobBlocked", "firing", page="Gone")
        self.assert_refused("JobBlocked: the link opens", "JobBlocked")
        self.send("JobBlocked", "resolved", page="ApiThrottled")
        self.assert_refused("the link opens '# ApiThrottled'", "JobBlocked")
        with self.assertRaises(urllib.error.HTTPError):
            self.get("/runbooks/../metrics.md")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
