"""Pods per second beside a bare loop, 100 pods deleted together, calls by verb and resource."""

import collections

import jobs
import rig as r
from rig import print_line, spread


def rate(calls, begin):
    return len(calls) / (max(call.done for call in calls) - begin)


def count_calls(rig, mark):
    """Calls of the operators since the mark, by verb and resource; refused ones by themselves."""
    return collections.Counter(f"{call.verb} {call.resource}" + ("" if call.ok else f" {call.code}")
                               for call in rig.calls_of_operators(mark))


def print_calls(variant, calls, jobs_count):
    print_line("api_calls", variant=variant, unit="calls/job",
               total=sum(calls.values()) / jobs_count,
               by_kind={kind: n / jobs_count for kind, n in sorted(calls.items())})


class Creation:
    def __init__(self, rig):
        self.rig = rig
        self.rounds = 1
        self.many, self.workers_each = (5, 7) if rig.quick else (100, 7)
        self.workers_of_one = 50 if rig.quick else 1000
        self.deletions = 5 if rig.quick else 100
        self.shapes = {
            f"1_job_x_{self.workers_of_one + 3}": [rig.job("job-0", self.workers_of_one)],
            f"{self.many}_jobs_x_{self.workers_each + 3}": [
                rig.job(f"job-{i}", self.workers_each) for i in range(self.many)],
        }

    def template(self):
        """A worker of a job of ours, as the server has it."""
        self.rig.start([self.rig.job("template", 1)])
        self.rig.wait_running()
        pod = self.rig.api.call("GET", f"{r.PODS}/template-worker-0")
        self.rig.clean()
        return pod

    def bare(self, pod, count):
        """Pods per second of the bare loop."""
        rig = self.rig
        owner = rig.api.call("POST", f"/api/v1/namespaces/{r.NAMESPACE}/configmaps", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}})
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "controller": True,
                     "uid": owner["metadata"]["uid"]}
        mark = rig.audit.mark()
        rig.api.all([("POST", r.PODS, body) for body in jobs.bare_pods(pod, reference, count)],
                    r.PARALLEL)
        calls = rig.wait_created(mark, count)
        found = rate(calls, min(call.received for call in calls))
        rig.clean()
        return found

    def ours(self, name, operator):
        """Pods per second from the first job's arrival on; the jobs run when this returns."""
        rig, manifests = self.rig, self.shapes[name]
        pods = sum(3 + m["spec"]["replicaSpecs"]["worker"]["replicas"] for m in manifests)
        before = operator.cpu_seconds()
        mark = rig.audit.mark()
        rig.start(manifests)
        calls = rig.wait_created(mark, pods)
        begin = min(c.received for c in rig.audit.since(mark) if c.created("pstrainingjobs"))
        rig.wait_running()
        rig.wait_quiet(mark)
        return {"rate": rate(calls, begin), "calls": count_calls(rig, mark),
                "cpu_s": operator.cpu_seconds() - before, "memory_mib": operator.memory_mib()}

    def replace_concurrently(self, name):
        """Deletes workers of all jobs together."""
        rig = self.rig
        workers = [f"{m['metadata']['name']}-worker-{i}" for i in range(self.deletions)
                   for m in self.shapes[name]
                   if i < m["spec"]["replicaSpecs"]["worker"]["replicas"]][:self.deletions]
        mark = rig.audit.mark()
        rig.api.all([("DELETE", f"{r.PODS}/{worker}", b"") for worker in workers], r.PARALLEL)
        rig.wait_created(mark, len(workers))
        successors = {call.name: call for call in rig.created(mark)}
        deletes = rig.audit.since(mark, user="bench", verb="delete")
        waits = [successors[f"{call.name}-1"].received - call.received for call in deletes]
        begin = min(call.received for call in deletes)
        last = max(call.done for call in successors.values())
        print_line("replacement_concurrent", shape=name, total_s=last - begin,
                   **r.percentiles(waits))
        rig.wait_running()
        rig.wait_quiet(mark)

    def run(self, operator):
        """Leaves the last jobs running."""
        pod = self.template()
        bare = []
        outcomes = {name: [] for name in self.shapes}
        for number in range(self.rounds):
            last_round = number == self.rounds - 1
            bare.append(self.bare(pod, self.workers_of_one))
            for name in self.shapes:
                outcomes[name].append(self.ours(name, operator))
                if last_round:
                    self.replace_concurrently(name)
                if not last_round or name != list(self.shapes)[-1]:
                    self.rig.clean()
        print_line("creation", variant="bare_loop", unit="pods/s", parallel=r.PARALLEL,
                   **spread(bare), runs=bare)
        for name, runs in outcomes.items():
            self._print(name, runs, bare)

    def _print(self, name, runs, bare):
        rates = [run["rate"] for run in runs]
        ratios = [ours / theirs for ours, theirs in zip(rates, bare)]
        memory, peak = runs[-1]["memory_mib"]
        print_line("creation", variant=name, unit="pods/s", **spread(rates), runs=rates,
                   ratio_to="bare_loop", ratio=spread(ratios)["median"], ratios=ratios,
                   cpu_s=spread([run["cpu_s"] for run in runs])["median"],
                   rss_mib=memory, peak_mib=peak)
        print_calls(name, runs[-1]["calls"], len(self.shapes[name]))
