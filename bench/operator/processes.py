"""The operator under test as a process, and what answers in place of the chiefs' agents."""

import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

AGENT_PORT = 9464
STARTS_IN_S = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Operator:
    running = []  # those that nobody has told to end

    def __init__(self, program, kubeconfig, log, flags=()):
        self.health = free_port()
        self.log = pathlib.Path(log)
        with open(log, "ab") as output:
            self.process = subprocess.Popen(
                [program, f"--kubeconfig={kubeconfig}", "--metrics-bind-address=127.0.0.1:0",
                 f"--health-probe-bind-address=127.0.0.1:{self.health}", *flags],
                stdout=output, stderr=output)
        self._wait_ready()
        Operator.running.append(self)

    def _wait_ready(self):
        end = time.monotonic() + STARTS_IN_S
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.health}/readyz", timeout=5).close()
                return
            except (urllib.error.URLError, OSError):
                if self.process.poll() is not None or time.monotonic() > end:
                    raise
            time.sleep(0.02)

    def cpu_seconds(self):
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mib(self):
        """(resident now, at most so far)"""
        values = {}
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            key, _, value = line.partition(":")
            if key in ("VmRSS", "VmHWM"):
                values[key] = int(value.split()[0]) / 1024
        return values["VmRSS"], values["VmHWM"]

    def signal(self, number):
        """Ends it."""
        if self in Operator.running:
            Operator.running.remove(self)
        self.process.send_signal(number)

    def wait(self):
        return self.process.wait(timeout=STARTS_IN_S)

    def end(self):
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
            self.wait()

    @staticmethod
    def ended_by_itself():
        """What is to be said of an operator that ended although nobody told it to, or None."""
        for operator in Operator.running:
            if (code := operator.process.poll()) is not None:
                last = "\n".join(operator.log.read_text(errors="replace").splitlines()[-5:])
                return f"{operator.log.stem} has exited with {code}:\n{last}"
        return None


class Agents:
    """Answers /progress for every chief: pods with the annotation get this machine's address."""

    def __init__(self):
        self.moving = False  # whether the numbers grow with the time
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("203.0.113.1", AGENT_PORT))  # sends nothing, only picks the address
            address = probe.getsockname()[0]
        self.annotations = {"fake.pstrain.dev/pod-ip": address}
        agents = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                body = agents.progress()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self._server = http.server.ThreadingHTTPServer((address, AGENT_PORT), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def progress(self):
        steps = int(time.time()) % 1_000_000 if self.moving else 1
        return json.dumps({"values": {
            "steps": steps, "examples_committed": 8 * steps, "examples_expected": 8_000_000,
            "applied_min": 8 * steps, "applied_max": 8 * steps, "loss": 0.5}}).encode()
