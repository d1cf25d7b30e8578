"""What the measures have in common: the cluster, the operator, jobs and lines of results."""

import json
import math
import os
import pathlib
import statistics
import sys
import time

import audit
import jobs
import kube
import processes

NAMESPACE = "bench"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
JOBS = f"{jobs.API}/namespaces/{NAMESPACE}/pstrainingjobs"
SERVICES = f"/api/v1/namespaces/{NAMESPACE}/services"
EVENTS = f"/apis/events.k8s.io/v1/namespaces/{NAMESPACE}/events"
PARALLEL = 128  # parallel calls of the bare loop and of deletions
PARALLEL_STARTS = 16  # jobs made in parallel
QUIET_S = 3
SETTLED_S = 12  # longer than the operator gathers repeats of an event before it writes their count


def print_line(bench, **values):
    def rounded(value):
        if isinstance(value, dict):
            return {key: rounded(part) for key, part in value.items()}
        if isinstance(value, list):
            return [rounded(part) for part in value]
        return float(f"{value:.4g}") if isinstance(value, float) else value

    print(json.dumps(rounded({"bench": bench, **values,
                              "load_average": os.getloadavg()[0]})), flush=True)


def spread(values):
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}


def percentiles(seconds):
    """In milliseconds; a percentile is the smallest value that so many per cent do not exceed."""
    ordered = sorted(1000 * value for value in seconds)

    def percentile(percent):
        return ordered[math.ceil(percent / 100 * len(ordered)) - 1]

    return {"unit": "ms", "n": len(ordered), "min": ordered[0], "p50": percentile(50),
            "p99": percentile(99), "max": ordered[-1]}


def wait_until(seconds, what, done, pause=0.05):
    """The first true answer of done()."""
    begun = time.monotonic()
    while not (answer := done()):
        if ended := processes.Operator.ended_by_itself():
            sys.exit(f"bench: {what}: {ended}")
        if time.monotonic() > begun + seconds:
            sys.exit(f"bench: not within {seconds} s: {what}")
        time.sleep(pause)
    print(f"bench: {what}: {time.monotonic() - begun:.1f} s", file=sys.stderr, flush=True)
    return answer


class Rig:
    def __init__(self, options):
        self.quick = options.quick
        self.state = pathlib.Path(options.state)
        self.program = options.operator
        self.flags = options.flag
        self.api = kube.Api(options.port, self.state / "pki", "bench")
        self.audit = audit.AuditLog(self.state / "log" / "audit.log")
        self.agents = processes.Agents()
        self._install(pathlib.Path(options.crd).read_bytes())

    def _install(self, crd):
        self.api.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd,
                      "application/yaml")
        wait_until(30, "the CRD is served",
                   lambda: self.api.call("GET", f"{jobs.API}/pstrainingjobs", allow=(404, 429)))
        self.api.call("POST", "/api/v1/namespaces", {
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        account = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default"
        wait_until(30, "the service account", lambda: self.api.call("GET", account, allow=(404,)))

    def operator(self, user="operator-a", flags=()):
        return processes.Operator(self.program, self.state / f"{user}.kubeconfig",
                                  self.state / "log" / f"{user}.log", [*flags, *self.flags])

    def job(self, name, workers, annotations=None):
        return jobs.job(name, workers, self.agents.annotations | (annotations or {}))

    def start(self, manifests):
        """Makes the jobs, several in parallel."""
        bodies = [json.dumps(manifest).encode() for manifest in manifests]
        self.api.all([("POST", JOBS, body) for body in bodies], min(PARALLEL_STARTS, len(bodies)))

    def created(self, mark):
        """Creates of pods that succeeded since the mark."""
        return [call for call in self.audit.since(mark) if call.created("pods")]

    def wait_created(self, mark, count):
        def enough():
            pods = self.created(mark)
            return pods if len(pods) >= count else None

        return wait_until(300, f"{count} pods", enough)

    def wait_running(self):
        """Every replica of every job is ready, and the jobs' status says so."""
        def ready():
            items = self.api.call("GET", JOBS)["items"]
            counts = [role for item in items
                      for role in item.get("status", {}).get("replicaStatuses", {}).values()]
            return items and len(counts) == 3 * len(items) and all(
                role.get("ready", 0) == role["desired"] for role in counts)

        wait_until(300, "all replicas are ready", ready, pause=0.5)

    def wait_quiet(self, mark, seconds=QUIET_S):
        """No operator has called for so long, its Lease apart."""
        def quiet():
            last = max((call.done for call in self.calls_of_operators(mark)), default=0)
            return time.time() - last > seconds

        wait_until(300, "the operator is quiet", quiet, pause=0.2)

    def calls_of_operators(self, mark):
        return [call for call in self.audit.since(mark)
                if call.user.startswith("operator-") and call.resource != "leases"]

    def clean(self):
        """Removes jobs, what belongs to them, bare pods and events."""
        for target in (JOBS, PODS, SERVICES, f"/api/v1/namespaces/{NAMESPACE}/configmaps", EVENTS):
            self.api.call("DELETE", target, {"kind": "DeleteOptions", "apiVersion": "v1",
                                             "propagationPolicy": "Background"})
        for target in (JOBS, PODS, SERVICES):
            wait_until(300, f"nothing is left of {target}",
                       lambda path=target: not self.api.call("GET", path + "?limit=1")["items"],
                       pause=0.5)
