"""Two operators: how soon the second takes over, and that nothing is done twice."""

import collections
import signal
import sys
import time

import rig as r

USERS = ["operator-a", "operator-b"]


class Handover:
    def __init__(self, rig):
        self.rig = rig
        self.rounds = 1 if rig.quick else 3
        self.jobs, self.workers = (5, 7) if rig.quick else (20, 7)
        # duration, renew deadline, retry period: the operator's own, also when it is to be quick. With
        # a deadline of 2 s a busy machine makes a leader lose its Lease, and there is no third operator.
        self.times = (15, 10, 2)

    def _start(self, user):
        duration, deadline, period = self.times
        return self.rig.operator(user, [
            "--leader-elect", f"--leader-election-namespace={r.NAMESPACE}",
            f"--leader-elect-lease-duration={duration}s",
            f"--leader-elect-renew-deadline={deadline}s",
            f"--leader-elect-retry-period={period}s"])

    def _wait_leads(self, user, mark):
        """The call that made the user the leader."""
        def taken():
            return next((c for c in self.rig.audit.since(mark, resource="leases", user=user)
                         if c.ok and c.writes), None)

        return r.wait_until(self.times[0] + 60, f"{user} leads", taken, pause=0.02)

    def once(self, ends_by, leader, waiting):
        """Ends the leader in the middle of its work; (to the Lease, to the first pod) in seconds."""
        rig, pods = self.rig, self.jobs * (self.workers + 3)
        mark = rig.audit.mark()
        rig.start([rig.job(f"job-{i}", self.workers) for i in range(self.jobs)])
        r.wait_until(60, "a part of the pods", lambda: len(rig.created(mark)) >= pods / 5,
                     pause=0.005)
        struck = time.time()
        leader.signal(ends_by)
        leader.wait()
        at_end = len(rig.created(mark))
        lease = self._wait_leads(waiting, mark)
        rig.wait_running()
        rig.wait_quiet(mark)
        first = min((c.received for c in rig.created(mark) if c.user == waiting), default=None)
        self._check(mark, lease, waiting)
        rig.clean()
        return lease.done - struck, first and first - struck, at_end

    def _check(self, mark, lease, successor):
        """Exits when something was done twice."""
        calls = self.rig.calls_of_operators(mark)
        # Events may still tell of what was done before.
        late = [c for c in calls
                if c.user != successor and c.writes and c.resource != "events"
                and c.received > lease.done]
        made = collections.Counter((c.resource, c.name) for c in calls
                                   if c.created(c.resource) and c.resource != "events")
        twice = [key for key, count in made.items() if count > 1]
        deleted = [c.name for c in calls if c.verb == "delete"]
        events = self.rig.api.call("GET", r.EVENTS)["items"]
        ours = [e for e in events if e.get("reportingController") == "pstrain.dev/operator"]
        notes = collections.Counter((e["regarding"]["uid"], e["reason"], e["note"]) for e in ours)
        repeated = [key for key, count in notes.items() if count > 1]
        told = collections.Counter()
        for event in ours:
            told[event["regarding"]["name"], event["reason"]] += (
                event.get("series", {}).get("count", 1))
        too_often = [key for key, count in told.items() if count > self.workers + 3]
        if late or twice or deleted or repeated or too_often or not ours:
            sys.exit(f"bench: done twice: writes after the hand-over "
                     f"{[(c.verb, c.resource, c.name) for c in late]}, creates {twice}, "
                     f"deletes {deleted}, events {repeated}, {too_often}, of {len(ours)}")

    def run(self):
        mark = self.rig.audit.mark()
        users = list(USERS)
        leader = self._start(users[0])
        self._wait_leads(users[0], mark)
        for ending, number in (("clean_exit", signal.SIGTERM), ("sigkill", signal.SIGKILL)):
            outcomes = []
            for _ in range(self.rounds):
                waiting = self._start(users[1])
                outcomes.append(self.once(number, leader, users[1]))
                leader = waiting
                users.reverse()
            leases, pods, at_end = zip(*outcomes)
            pods = [seconds for seconds in pods if seconds is not None]
            r.print_line("handover", measure=ending, unit="s", **r.spread(leases), runs=leases,
                         to_first_pod=pods, pods_made_before=at_end,
                         lease_duration_s=self.times[0], done_twice=0)
        leader.end()
